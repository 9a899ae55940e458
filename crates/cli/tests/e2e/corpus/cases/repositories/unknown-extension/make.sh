git config core.repositoryformatversion 1
git config extensions.fromthefuture true
ticket t-1
