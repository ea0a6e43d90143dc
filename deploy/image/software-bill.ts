/** A part of what is delivered. Source: https://cyclonedx.org/docs/1.5/json/ */
export type Component = {
  readonly type: 'application' | 'library';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly expression: string }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
};

/** What a lock file of npm records of a package. */
export type Recorded = {
  /** Where it is not the name of its folder. */
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
};

/** Our own package. */
type Manifest = Readonly<Record<'name' | 'version' | 'description' | 'license', string>>;

/**
 * Returns a software bill of materials (CycloneDX) as JSON. Equal parts give equal texts. `npm
 * sbom` is not used, because it leaves out packages that are there in two versions.
 */
export function softwareBill(
  { description, license, name, version }: Manifest,
  components: readonly Component[],
): string {
  const root = {
    type: 'application',
    name,
    version,
    description,
    purl: purl('npm', name, version),
  };
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...root, licenses: [{ expression: license }] } },
    components,
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** Returns a package by its path in a lock file of npm, and what is recorded there. */
export function npmComponent([path, recorded]: readonly [string, Recorded]): Component {
  const { integrity, license: terms, version } = recorded;
  const name = recorded.name ?? path.replace(/^.*node_modules\//, '');
  const [, algorithm, hash] = /^sha(\d+)-(.*)$/.exec(integrity ?? '') ?? [];
  const content = Buffer.from(hash ?? '', 'base64').toString('hex');
  return {
    type: 'library',
    name,
    version,
    purl: purl('npm', name, version),
    ...(terms !== undefined && { licenses: [{ expression: terms }] }),
    ...(algorithm !== undefined && { hashes: [{ alg: `SHA-${algorithm}`, content }] }),
  };
}

/** Source: https://github.com/package-url/purl-spec */
export function purl(type: string, path: string, version: string): string {
  return `pkg:${type}/${path.replace('@', '%40')}@${encodeURIComponent(version)}`;
}
