printf "#!/no/such/shell\n" > agent.sh
git commit --quiet --all --message="no interpreter"
