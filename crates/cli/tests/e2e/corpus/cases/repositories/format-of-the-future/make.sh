git config core.repositoryformatversion 99
ticket t-1
