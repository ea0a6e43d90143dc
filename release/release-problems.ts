/** What a release is judged by. */
export type ReleaseFacts = {
  /** Of package.json. */
  readonly version: string;
  /** The text of CHANGELOG.md. */
  readonly changelog: string;
  /** The text of Dockerfile, whose label has the version. */
  readonly dockerfile: string;
  /** The tags of this commit. */
  readonly tags: readonly string[];
  /** What `git status --porcelain` prints. */
  readonly changed: string;
};

/** Returns why this commit cannot be released, a sentence each with what to do. */
export function releaseProblems(facts: ReleaseFacts): readonly string[] {
  const { changed, changelog, dockerfile, tags, version } = facts;
  const tag = `v${version}`;
  const others = tags.filter(each => /^v\d/.test(each) && each !== tag);
  const files = changed.split('\n').filter(line => line !== '');
  const section = sectionOf(changelog, version);
  return [
    ...(files.length === 0
      ? []
      : [`${files.length} files are not committed: commit or remove them`]),
    ...(tags.includes(tag) ? [] : [`this commit has no tag ${tag}: run "git tag ${tag}"`]),
    ...others.map(other => `the tag ${other} is not the version of package.json, ${version}`),
    ...(dockerfile.includes(`org.opencontainers.image.version="${version}"`)
      ? []
      : [`the label org.opencontainers.image.version of Dockerfile is not ${version}`]),
    ...(section === undefined
      ? [`CHANGELOG.md has no section "## [${version}] - <date>"`]
      : section.includes('\n- ')
        ? []
        : [`the section [${version}] of CHANGELOG.md is empty`]),
    ...(section !== undefined && unreleasedOf(changelog)?.includes('\n- ')
      ? [`CHANGELOG.md has changes in [Unreleased]: move them into the section [${version}]`]
      : []),
  ];
}

/** Returns the text of the section of a version, without its heading. */
export function sectionOf(changelog: string, version: string): string | undefined {
  return sectionBeginning(changelog, `[${version}] - `)?.replace(/^.*\n/, '');
}

/**
 * Returns the text of a release on GitHub: its section, with links to the files of its tag. A
 * release stands apart from the files, and has no folder that a link could start from.
 */
export function notesOf(
  changelog: string,
  version: string,
  repository: string | undefined,
): string | undefined {
  const section = sectionOf(changelog, version);
  if (repository === undefined) return section;
  const files = `https://github.com/${repository}/blob/v${version}/`;
  return section?.replace(/\]\((?![a-z]+:|#)/g, `](${files}`);
}

function unreleasedOf(changelog: string): string | undefined {
  return sectionBeginning(changelog, '[Unreleased]');
}

function sectionBeginning(changelog: string, heading: string): string | undefined {
  return changelog.split(/^## /m).find(text => text.startsWith(heading));
}
