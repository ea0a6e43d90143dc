import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { BUILD_TESTS, goBuild, goBuildIn, goInstall, isBuiltFrom } from './go-install.ts';

/**
 * A program that tests need and neither npm nor PyPI has: from Debian, or built from a Go module,
 * of the internet or a folder of ours.
 */
export type Tool = {
  readonly name: string;
  readonly command: string;
  /** A command that does the same, and serves where the tool cannot be installed. */
  readonly substitute?: string;
} & (
  | { readonly aptPackage: string }
  | { readonly goPackage: string }
  /** `goBuilt` is a package as seen from the module `goSource`, `path@version`. */
  | { readonly goSource: string; readonly goBuilt: string }
  /** `goBuilt` is a package as seen from the module in `goModule`. */
  | { readonly goModule: string; readonly goBuilt: string }
  /** `goTests` is a package of tests as seen from the module in `goModule`. */
  | { readonly goModule: string; readonly goTests: string }
);

const KUBERNETES = join(import.meta.dirname, '..', 'kubernetes', 'testing', 'kube-apiserver-go');

const CONTROLLERS = join(import.meta.dirname, '..', 'kubernetes', 'testing', 'kube-controllers-go');

const CONFORMANCE = join(import.meta.dirname, '..', 'conformance', 'suite-go');

const COLLECTOR = join(import.meta.dirname, '..', 'envoy', 'testing', 'collector-go');

export const TEST_TOOLS: readonly Tool[] = [
  { name: 'IPROUTE2', command: 'ip', aptPackage: 'iproute2' },
  { name: 'SETPRIV', command: 'setpriv', aptPackage: 'util-linux' },
  { name: 'PROCPS', command: 'ps', aptPackage: 'procps' },
  { name: 'REDIS', command: 'redis-server', aptPackage: 'redis-server' },
  { name: 'OPENSSL', command: 'openssl', aptPackage: 'openssl' },
  // Chromium without what only people need: pages take a third of the processor time.
  {
    name: 'CHROMIUM',
    command: 'chromium-headless-shell',
    substitute: 'chromium',
    aptPackage: 'chromium-headless-shell',
  },
  { name: 'PROMETHEUS', command: 'prometheus', aptPackage: 'prometheus' },
  { name: 'PROMTOOL', command: 'promtool', aptPackage: 'prometheus' },
  { name: 'CURL', command: 'curl', aptPackage: 'curl' },
  {
    name: 'GRPCURL',
    command: 'grpcurl',
    goPackage: 'github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4',
  },
  {
    name: 'ACTIONLINT',
    command: 'actionlint',
    goPackage: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.7',
  },
  { name: 'GHZ', command: 'ghz', goPackage: 'github.com/bojand/ghz/cmd/ghz@v0.121.0' },
  // An ACME authority, and the DNS that it asks.
  {
    name: 'PEBBLE',
    command: 'pebble',
    goPackage: 'github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1',
  },
  {
    name: 'PEBBLE_CHALLTESTSRV',
    command: 'pebble-challtestsrv',
    goPackage: 'github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv@v2.10.1',
  },
  // Its release 2.6.0: the module's path has no version in it.
  {
    name: 'H2SPEC',
    command: 'h2spec',
    goPackage: 'github.com/summerwind/h2spec/cmd/h2spec@v0.0.0-20200804131034-70ac22940108',
  },
  { name: 'DOCKER', command: 'dockerd', aptPackage: 'docker.io' },
  { name: 'IPTABLES', command: 'iptables', aptPackage: 'iptables' },
  { name: 'MMDEBSTRAP', command: 'mmdebstrap', aptPackage: 'mmdebstrap' },
  { name: 'QEMU_ARM64', command: 'qemu-aarch64-static', aptPackage: 'qemu-user-static' },
  {
    name: 'DOCKER_COMPOSE',
    command: 'docker-compose',
    goSource: 'github.com/docker/compose/v2@v2.40.3',
    goBuilt: './cmd',
  },
  { name: 'HELM', command: 'gateway-helm', goPackage: 'helm.sh/helm/v4/cmd/helm@v4.3.1' },
  { name: 'KUBE_APISERVER', command: 'gateway-kube-apiserver', goModule: KUBERNETES, goBuilt: '.' },
  {
    name: 'KUBECTL',
    command: 'gateway-kubectl',
    goModule: KUBERNETES,
    goBuilt: 'k8s.io/kubernetes/cmd/kubectl',
  },
  {
    name: 'KUBE_CONTROLLERS',
    command: 'gateway-kube-controllers',
    goModule: CONTROLLERS,
    goBuilt: '.',
  },
  {
    name: 'CONFORMANCE',
    command: 'gateway-conformance',
    goModule: CONFORMANCE,
    goTests: '.',
  },
  // What the suite's Deployments run.
  {
    name: 'ECHO_BASIC',
    command: 'gateway-echo-basic',
    goModule: CONFORMANCE,
    goBuilt: 'sigs.k8s.io/gateway-api-conformance-images/echo-basic',
  },
  { name: 'COLLECTOR', command: 'gateway-collector', goModule: COLLECTOR, goBuilt: '.' },
];

/** The folder of the Go tools, which is first on the PATH of the tests. */
export const TOOLS = join(import.meta.dirname, '..', '.gateway', 'tools');

/**
 * Installs what is missing: through apt-get where that is allowed (root, or sudo without a
 * password), and with Go where there is one. Tells `say` about it. Returns by name why each tool
 * that is still missing could not be installed.
 */
export function ensureTestTools(say: (line: string) => void): ReadonlyMap<string, string> {
  const missing = TEST_TOOLS.filter(tool => isMissing(tool) || isOutdated(tool));
  const packages = missing.flatMap(tool => ('aptPackage' in tool ? [tool.aptPackage] : []));
  const aptFailure = packages.length === 0 ? '' : aptInstall(packages, say);
  const failures = missing.map(tool => [tool, make(tool, say) ?? aptFailure] as const);
  return new Map(
    failures
      .filter(([tool]) => pathOf(tool) === undefined || isOutdated(tool))
      .map(([{ command, name }, failure]) => [name, `no "${command}": ${failure}`]),
  );
}

/** Builds a tool with Go. Returns why it did not, undefined where the tool is not one of Go's. */
function make(tool: Tool, say: (line: string) => void): string | undefined {
  const target = join(TOOLS, tool.command);
  if ('goPackage' in tool) return goInstall(tool.goPackage, target, say);
  if ('goSource' in tool) return goBuildIn(tool.goSource, tool.goBuilt, target, say);
  if ('goTests' in tool) return goBuild(tool.goModule, tool.goTests, target, say, BUILD_TESTS);
  return 'goModule' in tool ? goBuild(tool.goModule, tool.goBuilt, target, say) : undefined;
}

/** A tool of ours is built again when its sources have changed. */
function isOutdated(tool: Tool): boolean {
  return 'goModule' in tool && !isBuiltFrom(tool.goModule, join(TOOLS, tool.command));
}

function isMissing({ command }: Tool): boolean {
  return findExecutable(command) === undefined;
}

/**
 * Returns the path of a tool, or of its substitute.
 *
 * @returns undefined when there is neither.
 */
export function pathOf({ command, substitute }: Tool): string | undefined {
  const path = findExecutable(command);
  return path === undefined && substitute !== undefined ? findExecutable(substitute) : path;
}

/**
 * Returns the path of the program of this command.
 *
 * @returns undefined when no folder of the PATH has it.
 */
export function findExecutable(command: string): string | undefined {
  const folders = [TOOLS, ...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.map(folder => join(folder, command)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns why it did not do what it should. */
function aptInstall(packages: readonly string[], say: (line: string) => void): string {
  if (!succeeds('apt-get', ['--version'])) return 'there is no apt-get';
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  if (sudo.length > 0 && !succeeds('sudo', ['-n', 'true']))
    return 'apt-get needs root, or sudo without a password';
  say(`installing ${packages.join(', ')} through apt-get ...`);
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    const [file = '', ...rest] = [
      ...sudo,
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      '-qq',
      ...args,
    ];
    if (!succeeds(file, rest)) return `apt-get ${args[0]} failed`;
  }
  return 'apt-get installed something else';
}

function succeeds(file: string, args: readonly string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}
