//! The terminal: taken over, given back, drawn on, listened to.

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

/// Whether the terminal is taken over now: it is given back once, whoever comes first.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal, taken over. Given back when it is dropped, and when the program panics.
#[derive(Debug)]
pub struct Terminal(ratatui::Terminal<CrosstermBackend<Stdout>>);

impl Terminal {
    /// Takes it over.
    ///
    /// # Errors
    /// When it cannot be: it is none, or is gone.
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

    /// Its size: columns, lines.
    ///
    /// # Errors
    /// When it is gone.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.0.size()?;
        Ok((size.width, size.height))
    }

    /// Draws the state: what changed since it was drawn last.
    ///
    /// # Errors
    /// When it is gone, or was given back by a panic of another thread.
    pub fn draw(&mut self, app: &App) -> io::Result<()> {
        if !TAKEN.load(Ordering::SeqCst) {
            return Err(io::Error::other(
                "a part of the program broke off, and gave it back",
            ));
        }
        self.0.draw(|frame| crate::draw(app, frame))?;
        Ok(())
    }

    /// Gives it back for as long as `away` takes, then takes it over again and draws everything anew.
    ///
    /// # Errors
    /// When it is gone.
    pub fn lend(&mut self, away: impl FnOnce()) -> io::Result<()> {
        give_back();
        away();
        enter()?;
        // A new one knows nothing of what was drawn. To clear the old one would ask the terminal where its cursor is, and
        // the keyboard's thread has taken the ear that the answer needs.
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
    // One that is gone cannot be given back.
    let _ = execute!(
        io::stdout(),
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
    let _ = io::stdout().flush();
}

/// What is typed, on a thread of its own: reading a terminal blocks.
#[derive(Debug)]
pub struct Keyboard(Arc<AtomicBool>);

impl Keyboard {
    /// Tells of everything from now on, until told that nobody listens (`false`); nothing, once, when the terminal is
    /// gone.
    pub fn listen(mut tell: impl FnMut(Option<Msg>) -> bool + Send + 'static) -> Self {
        let quiet = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&quiet);
        std::thread::spawn(move || {
            while let Ok(event) = event::read() {
                let heard = msgs(event).into_iter().all(|msg| tell(Some(msg)));
                if !heard || until.load(Ordering::SeqCst) {
                    return;
                }
            }
            tell(None);
        });
        Self(quiet)
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
            // Esc and a key right after it reach us as that key with Alt.
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
