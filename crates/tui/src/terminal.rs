//! The terminal: taking it over, giving it back, drawing on it, reading its keyboard.

use std::io::{self, Stdout, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};

use crate::app::App;
use crate::message::{Key, Msg};

/// Whether the terminal is taken over. Several places give it back, and only the first one has an effect.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal, taken over. It is given back when this is dropped, and when the program panics.
#[derive(Debug)]
pub struct Terminal(ratatui::Terminal<CrosstermBackend<Stdout>>);

impl Terminal {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// When standard output is not a terminal, or the terminal is gone.
    pub fn take() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let next = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                next(panic);
            }));
        });
        enter()?;
        let terminal = ratatui::Terminal::new(CrosstermBackend::new(io::stdout()));
        if terminal.is_err() {
            give_back();
        }
        terminal.map(Self)
    }

    /// The size: columns, lines.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.0.size()?;
        Ok((size.width, size.height))
    }

    /// Draws the changes of the state since the last call.
    ///
    /// # Errors
    /// When the terminal is gone, or was given back by a panic of another thread.
    pub fn draw(&mut self, app: &App) -> io::Result<()> {
        if !TAKEN.load(Ordering::SeqCst) {
            return Err(io::Error::other(
                "a part of the program broke off, and gave it back",
            ));
        }
        self.0.draw(|frame| crate::draw(app, frame))?;
        Ok(())
    }

    /// Gives the terminal back while `body` runs, then takes it over again. The next drawing is complete.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn lend(&mut self, body: impl FnOnce()) -> io::Result<()> {
        give_back();
        body();
        enter()?;
        // A new terminal has no memory of earlier drawings. Clearing the old one would ask for the position
        // of the cursor, and the thread of the keyboard would read the answer.
        self.0 = ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))?;
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

fn enter() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    let entered = enable_raw_mode().and_then(|()| {
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            Clear(ClearType::All),
            EnableBracketedPaste,
            cursor::Hide
        )
    });
    if entered.is_err() {
        give_back();
    }
    entered
}

fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // Nothing can be done if the terminal is gone.
    let _ = execute!(
        io::stdout(),
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
    let _ = io::stdout().flush();
}

/// The keyboard, which a thread of its own reads, since reading a terminal blocks.
#[derive(Debug)]
pub struct Keyboard(Arc<AtomicBool>);

impl Keyboard {
    /// Calls `send` for every message of the terminal from now on, until it returns `false`; with `None`,
    /// once, when the terminal is gone.
    pub fn listen(mut send: impl FnMut(Option<Msg>) -> bool + Send + 'static) -> Self {
        let stopped = Arc::new(AtomicBool::new(false));
        let thread_stopped = Arc::clone(&stopped);
        std::thread::spawn(move || {
            while let Ok(event) = event::read() {
                let is_wanted = msgs(event).into_iter().all(|msg| send(Some(msg)));
                if !is_wanted || thread_stopped.load(Ordering::SeqCst) {
                    return;
                }
            }
            send(None);
        });
        Self(stopped)
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn msgs(event: Event) -> Vec<Msg> {
    match event {
        Event::Key(event) if event.kind == KeyEventKind::Release => Vec::new(),
        Event::Key(event) => {
            // A terminal sends Esc and a key right after it as that key with Alt.
            let escape = Some(Key::Escape).filter(|_| event.modifiers.contains(KeyModifiers::ALT));
            escape.into_iter().chain(key(event)).map(Msg::Key).collect()
        }
        Event::Paste(text) => vec![Msg::Pasted(text)],
        Event::Resize(columns, lines) => vec![Msg::Resized(columns, lines)],
        Event::FocusGained | Event::FocusLost | Event::Mouse(_) => Vec::new(),
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char(letter) if ctrl => Key::Ctrl(letter.to_ascii_lowercase()),
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
