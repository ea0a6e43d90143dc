import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A process in a read-only root of its own, under a user without any rights. Containers of the
 * strictest standard run so.
 */
export type ContainerOptions = {
  readonly namespace: string;
  readonly uid: number;
  readonly gid: number;
  /** The further group that a pod's volumes belong to. */
  readonly fsGroup: number;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The programs on the image's PATH, from name to file. */
  readonly programs: ReadonlyMap<string, string>;
  /** Path in the container to a folder of this machine. */
  readonly mounts: ReadonlyMap<string, { readonly folder: string; readonly readOnly: boolean }>;
  readonly hostname: string;
  /** The folder of what the image runs. */
  readonly program: string;
  /** A folder whose files stand in its /etc. */
  readonly etc: string;
};

export type RunningContainer = {
  readonly process: ChildProcess;
  /** Runs a command in it, as its user. Resolves when that has ended, however it did. */
  run(command: readonly string[]): Promise<void>;
  /** Returns all that it has printed. */
  log(): string;
  /** Sends SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM. Resolves with how it has ended, or undefined when it had to be killed. */
  stop(
    graceMs: number,
  ): Promise<{ readonly code: number | null; readonly signal: string | null } | undefined>;
};

/**
 * Binds the system's folders and the program into an empty root. The rest of its arguments is the
 * command. A name may have several addresses, as in DNS (host.conf(5)).
 */
const SCRIPT = `
set -e
root=$1 program=$2 uid=$3 gid=$4 groups=$5 etc=$6 name=$7; shift 7
echo "$name" > /proc/sys/kernel/hostname
mount -t tmpfs -o mode=0755 tmpfs "$root"
mkdir -p "$root/etc" "$root/image" "$root/gateway" "$root/run" "$root/tmp" "$root/var"
ln -s ../run "$root/var/run"
for each in bin lib lib64 sbin; do
  if [ -L /$each ]; then ln -s "$(readlink /$each)" "$root/$each"; elif [ -d /$each ]; then mkdir "$root/$each"; mount --bind /$each "$root/$each"; fi
done
for each in usr dev proc; do mkdir "$root/$each"; mount --rbind /$each "$root/$each"; done
for each in passwd group nsswitch.conf ld.so.cache; do cp /etc/$each "$root/etc/"; done
mkdir "$root/etc/ssl"; mount --bind /etc/ssl "$root/etc/ssl"
cp "$etc"/* "$root/etc/"
echo multi on > "$root/etc/host.conf"
mount --bind "$program" "$root/gateway"
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "$root$2"; else touch "$root$2"; fi
  mount --bind "$1" "$root$2"
  [ "$3" = rw ] || mount -o remount,ro,bind "$root$2"
  shift 3
done
shift
mount -o remount,ro "$root"
exec chroot "$root" setpriv --reuid "$uid" --regid "$gid" --groups "$groups" --no-new-privs --bounding-set=-all --inh-caps=-all --pdeathsig KILL sh -c 'cd /gateway && exec "$@"' sh "$@"
`;

const PATHS = { PATH: '/image:/usr/sbin:/usr/bin:/sbin:/bin' };

export function startContainer(options: ContainerOptions): RunningContainer {
  const { program, namespace, uid, gid, fsGroup, command, env, etc, hostname } = options;
  const root = mkdtempSync(join(tmpdir(), 'gateway-container-'));
  const mounts = [
    ...[...options.programs].flatMap(([name, file]) => [file, `/image/${name}`, 'ro']),
    ...[...options.mounts].flatMap(([path, { folder, readOnly }]) => [
      folder,
      path,
      readOnly ? 'ro' : 'rw',
    ]),
  ];
  const args = [
    root,
    program,
    `${uid}`,
    `${gid}`,
    `${gid},${fsGroup}`,
    etc,
    hostname,
    ...mounts,
    '--',
    ...command,
  ];
  const child = spawn(
    'ip',
    ['netns', 'exec', namespace, 'unshare', '--uts', 'sh', '-c', SCRIPT, 'sh', ...args],
    {
      env: { ...PATHS, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => output.push(String(chunk)));
  const exited = new Promise<{ code: number | null; signal: string | null }>(resolve =>
    child.once('exit', (code, signal) => {
      rmSync(root, { recursive: true, force: true });
      resolve({ code, signal });
    }),
  );
  return {
    process: child,
    log: () => output.join(''),
    async run(inside) {
      const target = ['--target', `${child.pid}`, '--mount', '--uts', '--net', '--root', '--wd'];
      const user = ['setpriv', '--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups'];
      const runner = spawn('nsenter', [...target, ...user, ...inside], {
        stdio: 'ignore',
        env: PATHS,
      });
      await once(runner, 'close');
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop(graceMs) {
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      const end = await exited;
      clearTimeout(killer);
      return end.signal === 'SIGKILL' ? undefined : end;
    },
  };
}
