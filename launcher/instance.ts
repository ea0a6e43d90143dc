import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '#files/write-durably.ts';
import { drainEnvoy } from './drain-envoy.ts';
import { proxyConfig } from './instance-files.ts';
import { instanceName, instanceProxyPart, type Layout, servicePart } from './parts.ts';
import type { StartPart } from './start-part.ts';
import type { SupervisedChild } from './supervised-child.ts';
import { writeBootstrap } from './write-bootstrap.ts';

/** The longest wait for requests in flight, in ms. */
const DRAIN_MS = 4_000;

/** One instance of the user service with the Envoy beside it. */
export class Instance {
  readonly number: number;
  readonly service: SupervisedChild;
  readonly proxy: SupervisedChild;
  readonly #admin: string;
  readonly #resourceFile: string;
  readonly #write: () => void;
  #leaving = false;

  constructor(layout: Layout, number: number, start: StartPart) {
    const proxy = instanceProxyPart(layout, number);
    this.number = number;
    this.#admin = proxy.admin;
    this.#resourceFile = join(layout.state.resources, `${instanceName(number)}.yaml`);
    this.#write = () => {
      replaceFile(this.#resourceFile, proxyConfig(layout.portOffset, number));
      writeBootstrap(layout, proxy);
    };
    this.#write();
    this.service = start(servicePart(layout, number));
    this.proxy = start(proxy);
  }

  /** Tells whether requests may be sent to it. */
  get isServing(): boolean {
    return !this.#leaving && this.service.isReady && this.proxy.isReady;
  }

  /** Writes its files again after somebody has deleted them. */
  restore(): void {
    this.#write();
  }

  /**
   * From here on no requests are to be sent to it. A process of it that ends is not started again.
   */
  leave(): void {
    this.#leaving = true;
    this.service.drain();
    this.proxy.drain();
  }

  /** Finishes what it has begun, then ends. Nobody may send it requests any more. */
  async stop(now: () => number): Promise<void> {
    await drainEnvoy(this.#admin, { closeListeners: false, now, ms: DRAIN_MS });
    await this.service.stop();
    await this.proxy.stop();
    rmSync(this.#resourceFile, { force: true });
  }
}
