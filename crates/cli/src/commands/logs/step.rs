//! The output of one step or check, shown as it grows.

use std::collections::VecDeque;
use std::time::Duration;

use client::conversation::{Detail, Line, Reading};
use client::follow::Changes;
use client::outputs::{self, Source};
use process::{Run, Stream, Tail};

use super::Form;
use crate::context::Context;
use crate::error::Result;
use crate::ui::{Style, Talk};
use client::documents;

/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;
/// A line that is longer than this is shown in pieces.
const LONG: usize = 1 << 20;
/// How soon it is looked for a process that is being made.
pub(super) const UNMADE: Duration = Duration::from_millis(100);

/// A step or check whose output is shown.
pub(super) struct Open {
    pub(super) source: Source,
    form: Form,
    /// None as long as there is no run: the step is told of before its process is made.
    output: Option<Output>,
    talk: Talk,
}

struct Output {
    reads: Reads,
    changes: Changes,
}

enum Reads {
    /// The bytes as they are.
    Raw(Tail),
    /// The lines as they are, and the part that was read of a line that is not whole yet.
    Lines(Tail, String),
    /// What they mean.
    Conversation(Box<Reading>),
}

impl Open {
    pub(super) fn new(source: Source, form: Form) -> Self {
        Self {
            source,
            form,
            output: None,
            talk: Talk::default(),
        }
    }

    /// Of a conversation, from its last lines on, and these lines; at most so many.
    pub(super) fn near_end(source: Source, detail: Detail, most: usize) -> Result<(Self, VecDeque<Line>)> {
        let mut open = Self::new(source, Form::Conversation(detail));
        let Ok(run) = Run::open(&open.source.dir) else {
            return Ok((open, VecDeque::new()));
        };
        // What is printed from now on is seen as a change.
        let changes = Changes::of_run(&open.source.dir);
        let (source, uncounted) = (&open.source, &open.source.uncounted);
        let (reading, last) = Reading::near_end(&run, source.is_of_agent(), uncounted, detail, most)?;
        open.talk = Talk::new(reading.has_times());
        open.output = Some(Output {
            reads: Reads::Conversation(Box::new(reading)),
            changes,
        });
        Ok((open, last))
    }

    /// Whether there is output to look at.
    pub(super) fn has_output(&self) -> bool {
        self.output.is_some()
    }

    fn open(&mut self) {
        if self.output.is_some() {
            return;
        }
        let Ok(run) = Run::open(&self.source.dir) else {
            return;
        };
        let changes = Changes::of_run(&self.source.dir);
        let tail = Tail::new(&run, Stream::Out, 0);
        let reads = match self.form {
            Form::Raw => Reads::Raw(tail),
            Form::Json => Reads::Lines(tail, String::new()),
            Form::Conversation(detail) => {
                let uncounted = self.source.uncounted.clone();
                let reading = Reading::new(&run, self.source.is_of_agent(), uncounted, detail);
                self.talk = Talk::new(reading.has_times());
                Reads::Conversation(Box::new(reading))
            }
        };
        self.output = Some(Output { reads, changes });
    }

    /// Waits until there may be more of it.
    pub(super) async fn changed(&mut self) {
        match &mut self.output {
            Some(output) => output.changes.wait().await,
            None => tokio::time::sleep(UNMADE).await,
        }
    }

    /// Shows what there is by now. The line of a tool may still wait for its end.
    pub(super) fn more(&mut self, context: &mut Context) -> Result<()> {
        self.open();
        let Some(output) = &mut self.output else {
            return Ok(());
        };
        match &mut output.reads {
            Reads::Raw(tail) => loop {
                let bytes = tail.read(PIECE)?;
                if bytes.is_empty() {
                    return Ok(());
                }
                context.out.bytes(&bytes)?;
            },
            Reads::Lines(tail, rest) => loop {
                let piece = tail.read_text(PIECE)?;
                if piece.is_empty() {
                    return Ok(());
                }
                rest.push_str(&piece);
                // An escape sequence can be cut in two: only whole lines are made harmless.
                let whole = match rest.rfind('\n') {
                    Some(at) => at + 1,
                    None if rest.len() > LONG => rest.len(),
                    None => 0,
                };
                let lines: String = rest.drain(..whole).collect();
                documents(context, &self.source, Stream::Out, &lines)?;
            },
            Reads::Conversation(reading) => {
                let mut shown = Ok(());
                let talk = &mut self.talk;
                reading.more(&mut |line| {
                    if shown.is_ok() {
                        shown = talk.line(&mut context.out, line);
                    }
                })?;
                shown
            }
        }
    }

    /// Shows these lines of the conversation, which were read already.
    pub(super) fn show(&mut self, context: &mut Context, lines: VecDeque<Line>) -> Result<()> {
        for line in lines {
            self.talk.line(&mut context.out, line)?;
        }
        Ok(())
    }

    /// Shows the line that waits, too: nobody knows when its tool ends.
    pub(super) fn release(&mut self, context: &mut Context) -> Result<()> {
        self.talk.release(&mut context.out)
    }

    /// The step is over: an unfinished line is all there is of it, and what it complained of comes last.
    pub(super) fn end(mut self, context: &mut Context) -> Result<()> {
        self.more(context)?;
        let Some(output) = &mut self.output else {
            if let Form::Conversation(_) = self.form {
                context.out.styled("its output is not kept", Style::Dim)?;
            }
            return Ok(());
        };
        match &mut output.reads {
            Reads::Raw(_) => Ok(()),
            Reads::Lines(tail, rest) => {
                rest.push_str(&tail.read_ended_text(PIECE)?);
                documents(context, &self.source, Stream::Out, rest)?;
                let errors = outputs::errors(&self.source.dir);
                documents(context, &self.source, Stream::Err, &errors)
            }
            Reads::Conversation(reading) => {
                let mut shown = Ok(());
                let talk = &mut self.talk;
                reading.end(&mut |line| {
                    if shown.is_ok() {
                        shown = talk.line(&mut context.out, line);
                    }
                });
                shown?;
                self.talk.release(&mut context.out)?;
                let errors = text::sanitise::text(&outputs::errors(&self.source.dir));
                for line in errors.lines() {
                    context.out.styled(&format!("stderr: {line}"), Style::Yellow)?;
                }
                Ok(())
            }
        }
    }
}

/// Lines of output, each as a document.
fn documents(context: &mut Context, source: &Source, stream: Stream, text: &str) -> Result<()> {
    for line in text::sanitise::text(text).lines() {
        context.out.json_line(&documents::OutputLine {
            ticket: source.ticket.clone(),
            step: source.number,
            run: source.run.clone(),
            stream: stream.file(),
            line: line.to_owned(),
        })?;
    }
    Ok(())
}
