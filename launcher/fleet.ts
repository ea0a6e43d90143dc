import { readFileSync } from 'node:fs';
import { replaceFile } from '#files/write-durably.ts';
import { discoveryAcked } from './discovery-acked.ts';
import { eventually } from './eventually.ts';
import { Instance } from './instance.ts';
import { holdsMore, instancesFile } from './instance-files.ts';
import { instanceName, type Layout, loopback } from './parts.ts';
import { checkPorts } from './port-check.ts';
import type { StartPart } from './start-part.ts';
import { instanceWantedPorts } from './wanted-ports.ts';

export type FleetOptions = {
  readonly layout: Layout;
  readonly start: StartPart;
  readonly now: () => number;
  /** One line for the operator. */
  say(line: string): void;
};

/** How long a new instance may take until it serves, in ms. */
const START_MS = 30_000;

/** Manages the instances of the user service, and tells the discovery service of them. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #byNumber = new Map<number, Instance>();
  #published = '';
  #stopping = false;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  /** In order of their numbers. */
  get instances(): readonly Instance[] {
    return [...this.#byNumber.values()].sort((a, b) => a.number - b.number);
  }

  /**
   * Starts instances with the lowest free numbers until there are `count`. Returns the new ones.
   */
  begin(count: number): readonly Instance[] {
    const { layout, start } = this.#options;
    return this.#freeNumbers(count).map(number => {
      const instance = new Instance(layout, number, start);
      this.#byNumber.set(number, instance);
      return instance;
    });
  }

  /**
   * Scales to `count` instances. Resolves when the new ones serve, or when those that leave (the
   * highest numbers) have ended. `progress` gets a line for each. Throws an Error that names a port
   * in use or an instance that does not come up, and when the fleet stops.
   */
  async scale(count: number, progress: (line: string) => void): Promise<void> {
    const { portOffset } = this.#options.layout;
    await checkPorts(
      this.#freeNumbers(count).flatMap(number => instanceWantedPorts(portOffset, number)),
    );
    if (this.#stopping) throw new Error('the gateway is stopping');
    const leaving = this.instances.slice(count);
    const coming = this.begin(count);
    for (const instance of leaving) instance.leave();
    this.publish();
    await Promise.all([
      ...coming.map(instance => this.#comeUp(instance, progress)),
      ...leaving.map(instance => this.#bringDown(instance, progress)),
    ]);
  }

  /** Tells the discovery service which instances serve now, if that has changed. */
  publish(): void {
    const { layout, say } = this.#options;
    const serving = this.instances
      .filter(instance => instance.isServing)
      .map(({ number }) => number);
    const content = instancesFile(layout.portOffset, serving);
    if (content === this.#published) return;
    try {
      this.#rescue(layout.state.instancesFile);
      replaceFile(layout.state.instancesFile, content);
      this.#published = content;
    } catch (error) {
      say(
        `cannot write ${layout.state.instancesFile}: ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  /** Writes all files again after somebody has deleted them. */
  restore(): void {
    for (const instance of this.instances) instance.restore();
    this.#published = '';
    this.publish();
  }

  /** Keeps what an operator wrote into our file beside it. The next write would erase it. */
  #rescue(file: string): void {
    const found = readIfThere(file);
    if (found === undefined || found === this.#published || !holdsMore(found)) return;
    const kept = `${file}.edited`;
    replaceFile(kept, found);
    this.#options.say(
      `${file} is written by the gateway. Your edit is now in ${kept}: name a file of yours with --services`,
    );
  }

  /** Drains and stops all instances. Nobody may send them requests any more. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const { now } = this.#options;
    for (const instance of this.instances) instance.leave();
    await Promise.all(this.instances.map(instance => instance.stop(now)));
    this.#byNumber.clear();
  }

  /** Returns as many free numbers as are missing for `count` instances. */
  #freeNumbers(count: number): readonly number[] {
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    return numbers
      .filter(number => !this.#byNumber.has(number))
      .slice(0, Math.max(0, count - this.#byNumber.size));
  }

  async #comeUp(instance: Instance, progress: (line: string) => void): Promise<void> {
    const name = instanceName(instance.number);
    const serves = await eventually(async () => instance.isServing || this.#stopping, START_MS);
    if (!serves) throw new Error(`${name} does not serve after ${START_MS / 1000} s, see its logs`);
    progress(`${name} serves`);
  }

  async #bringDown(instance: Instance, progress: (line: string) => void): Promise<void> {
    const { layout, now } = this.#options;
    const name = instanceName(instance.number);
    progress(`${name} is draining`);
    await discoveryAcked(loopback(layout.ports.sds), name, () => this.#stopping);
    await instance.stop(now);
    this.#byNumber.delete(instance.number);
    progress(`${name} has ended`);
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
