import type { Socket } from 'node:net';

/**
 * The connections of which it is not known yet who they are from, or what they speak. When there
 * are too many, the one that has waited longest is closed. A peer that goes on gets through in some
 * milliseconds, and so a flood of silent ones neither fills the memory nor keeps others out.
 */
export class Newcomers {
  readonly #most: number;
  readonly #waiting = new Map<string, Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  add(socket: Socket): void {
    const name = nameOf(socket);
    this.#waiting.set(name, socket);
    socket.once('close', () => {
      if (this.#waiting.get(name) === socket) this.#waiting.delete(name);
    });
    const [oldest] = this.#waiting.values();
    if (this.#waiting.size > this.#most) oldest?.destroy();
  }

  /** Takes a connection out, which may be the encrypted side of the one that was added. */
  delete(socket: Socket): void {
    this.#waiting.delete(nameOf(socket));
  }
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
