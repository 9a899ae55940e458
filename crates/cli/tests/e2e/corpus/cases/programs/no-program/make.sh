git rm --quiet --force agent.sh
git commit --quiet --message="no agent"
