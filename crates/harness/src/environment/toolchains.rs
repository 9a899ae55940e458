//! Toolchain variables: the part of a user's environment that checks get, since today's toolchains cannot be
//! found or used without it.

use std::ffi::{OsStr, OsString};

use super::Environment;

/// Names of variables that say where toolchains, their caches and their certificates are. None holds a
/// secret, and none chooses the code that is built or tested. docs/settings.md has the same list.
pub const TOOLCHAINS: &[(&str, &[&str])] = &[
    (
        "any",
        &[
            "LOGNAME",
            "TZ",
            "LANGUAGE",
            "XDG_CACHE_HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_STATE_HOME",
            "XDG_RUNTIME_DIR",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "ASDF_DIR",
            "ASDF_DATA_DIR",
            "MISE_DATA_DIR",
            "MISE_CONFIG_DIR",
            "MISE_CACHE_DIR",
            "PROTO_HOME",
            "NIX_PATH",
            "NIX_PROFILES",
            "NIX_SSL_CERT_FILE",
            "LOCALE_ARCHIVE",
            "HOMEBREW_PREFIX",
            "BAZELISK_HOME",
        ],
    ),
    (
        "C and C++",
        &[
            "CCACHE_DIR",
            "SCCACHE_DIR",
            "CONAN_HOME",
            "VCPKG_ROOT",
            "DEVELOPER_DIR",
            "SDKROOT",
        ],
    ),
    ("Rust", &["RUSTUP_HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN"]),
    (
        "Go",
        &[
            "GOROOT",
            "GOPATH",
            "GOBIN",
            "GOMODCACHE",
            "GOCACHE",
            "GOENV",
            "GOTOOLCHAIN",
            "GOPROXY",
            "GOSUMDB",
            "GOPRIVATE",
            "GONOPROXY",
            "GONOSUMDB",
        ],
    ),
    (
        "Python",
        &[
            "PYENV_ROOT",
            "PIP_CACHE_DIR",
            "PIP_CONFIG_FILE",
            "PIPX_HOME",
            "PIPX_BIN_DIR",
            "UV_CACHE_DIR",
            "UV_CONFIG_FILE",
            "UV_PYTHON_INSTALL_DIR",
            "UV_TOOL_DIR",
            "POETRY_HOME",
            "POETRY_CACHE_DIR",
            "POETRY_CONFIG_DIR",
            "PDM_CACHE_DIR",
            "PIPENV_CACHE_DIR",
            "RYE_HOME",
            "HATCH_DATA_DIR",
            "HATCH_CACHE_DIR",
            "CONDA_EXE",
            "CONDA_PKGS_DIRS",
            "MAMBA_EXE",
            "MAMBA_ROOT_PREFIX",
            "PIXI_HOME",
            "REQUESTS_CA_BUNDLE",
            "CURL_CA_BUNDLE",
        ],
    ),
    (
        "JavaScript",
        &[
            "NVM_DIR",
            "FNM_DIR",
            "VOLTA_HOME",
            "N_PREFIX",
            "NODENV_ROOT",
            "COREPACK_HOME",
            "npm_config_cache",
            "NPM_CONFIG_CACHE",
            "npm_config_prefix",
            "NPM_CONFIG_PREFIX",
            "npm_config_userconfig",
            "NPM_CONFIG_USERCONFIG",
            "PNPM_HOME",
            "YARN_CACHE_FOLDER",
            "YARN_GLOBAL_FOLDER",
            "BUN_INSTALL",
            "BUN_INSTALL_CACHE_DIR",
            "DENO_DIR",
            "NODE_EXTRA_CA_CERTS",
            "PLAYWRIGHT_BROWSERS_PATH",
            "PUPPETEER_CACHE_DIR",
            "CYPRESS_CACHE_FOLDER",
        ],
    ),
    (
        "Java, Kotlin, Scala and Clojure",
        &[
            "JAVA_HOME",
            "JDK_HOME",
            "SDKMAN_DIR",
            "GRADLE_HOME",
            "GRADLE_USER_HOME",
            "MAVEN_HOME",
            "M2_HOME",
            "MAVEN_USER_HOME",
            "COURSIER_CACHE",
            "CLJ_CONFIG",
            "ANDROID_HOME",
            "ANDROID_SDK_ROOT",
            "ANDROID_NDK_HOME",
            "ANDROID_USER_HOME",
        ],
    ),
    (
        ".NET",
        &[
            "DOTNET_ROOT",
            "DOTNET_CLI_HOME",
            "NUGET_PACKAGES",
            "NUGET_HTTP_CACHE_PATH",
        ],
    ),
    (
        "Ruby",
        &[
            "RBENV_ROOT",
            "rvm_path",
            "GEM_HOME",
            "GEM_PATH",
            "BUNDLE_USER_HOME",
            "BUNDLE_USER_CACHE",
            "BUNDLE_USER_CONFIG",
        ],
    ),
    (
        "others",
        &[
            "MIX_HOME",
            "HEX_HOME",
            "REBAR_CACHE_DIR",
            "COMPOSER_HOME",
            "COMPOSER_CACHE_DIR",
            "PHPENV_ROOT",
            "GHCUP_INSTALL_BASE_PREFIX",
            "CABAL_DIR",
            "STACK_ROOT",
            "OPAMROOT",
            "PUB_CACHE",
            "FLUTTER_ROOT",
            "JULIA_DEPOT_PATH",
            "JULIAUP_DEPOT_PATH",
            "R_LIBS_USER",
            "ZIG_GLOBAL_CACHE_DIR",
        ],
    ),
];

/// Whether a toolchain, or the locale, needs this variable.
fn is_needed(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    name.starts_with("LC_") || TOOLCHAINS.iter().any(|(_, names)| names.contains(&name))
}

/// The variables of `ours` that toolchains need.
pub fn of(ours: &Environment) -> impl Iterator<Item = (&OsString, &OsString)> {
    ours.iter().filter(|(name, _)| is_needed(name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_variable_stands_twice_and_none_of_them_chooses_the_code_under_test() {
        let all: Vec<&str> = TOOLCHAINS.iter().flat_map(|(_, names)| *names).copied().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        for name in [
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "PYTHONPATH",
            "PYTHONHOME",
            "NODE_PATH",
            "CLASSPATH",
            "GOWORK",
            "GOFLAGS",
            "CARGO_TARGET_DIR",
            "RUSTFLAGS",
            "RUBYLIB",
            "PERL5LIB",
            "LD_LIBRARY_PATH",
            "GIT_DIR",
            "NPM_TOKEN",
            "HTTPS_PROXY",
            "CARGO_REGISTRY_TOKEN",
        ] {
            assert!(!is_needed(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn the_guide_lists_every_one() {
        let guide = include_str!("../../../../docs/settings.md");
        for name in TOOLCHAINS.iter().flat_map(|(_, names)| *names) {
            assert!(guide.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn the_locale_and_the_toolchains_pass() {
        let ours = Environment::from(
            [
                ("LC_ALL", "C.UTF-8"),
                ("CARGO_HOME", "/opt/cargo"),
                ("TOKEN", "canary"),
            ]
            .map(|(name, value)| (name.into(), value.into())),
        );
        let names: Vec<_> = of(&ours).map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, ["CARGO_HOME", "LC_ALL"]);
    }
}
