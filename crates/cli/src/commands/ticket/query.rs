//! `query`: front matter as JSON lines, and a filter in jq's language, which picks among them as in tk.

use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars, defs, funs, unwrap_valr};
use jaq_json::{Val, read};

use super::{Call, wrong};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui;

impl Call<'_> {
    pub(super) fn query(&mut self) -> Result<Exit> {
        let (filter, rest) = match self.words.split_first() {
            Some((filter, rest)) => (Some(filter.clone()), rest),
            None => (None, &[][..]),
        };
        if !rest.is_empty() {
            return wrong(self.usage("query [filter]"));
        }
        let lines = self.folder()?.query()?;
        let Some(filter) = filter.filter(|filter| !filter.is_empty()) else {
            return self.print(&lines);
        };
        let filter = compile(&filter)?;
        let mut exit = Exit::Done;
        for line in lines.lines() {
            let value = read::parse_single(line.as_bytes())
                .map_err(|error| Error::refused(format!("cannot read {line}: {error}"), "`crew doctor`"))?;
            let context = Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new([]));
            for picked in filter.id.run((context, value)).map(unwrap_valr) {
                match picked {
                    Ok(picked) => self.context.out.text(&format!("{picked}\n"))?,
                    // The others are still asked for, as by jq.
                    Err(error) => {
                        ui::warn(&format!("the filter fails at {line}: {error}"));
                        exit = Exit::Failed;
                    }
                }
            }
        }
        Ok(exit)
    }
}

fn compile(filter: &str) -> Result<Filter<JustLut<Val>>> {
    let wrong = |why: String| {
        Error::refused(
            format!("the filter `{}` cannot be read: {why}", ui::clean(filter)),
            "it is what jq takes in `select(…)`, such as '.status == \"open\"'; each value is a string",
        )
    };
    let code = format!("select({filter})");
    let defs = defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let funs = funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let file = File {
        code: code.as_str(),
        path: (),
    };
    let modules = Loader::new(defs)
        .load(&arena, file)
        .map_err(|_| wrong("its words do not fit together".to_owned()))?;
    Compiler::default()
        .with_funs(funs)
        .compile(modules)
        .map_err(|errors| {
            let unknown = errors.iter().flat_map(|(_, errors)| errors);
            let unknown: Vec<&str> = unknown.map(|(name, _)| *name).collect();
            wrong(format!("there is no {}", unknown.join(", ")))
        })
}
