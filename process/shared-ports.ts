import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { isJsonObject, type Json } from '#protos/json.ts';
import type { Calls } from './calls.ts';

/** Gives a connection to a worker's process, as one of the port of this name. */
export type Give = (port: string, socket: Socket) => void;

/** A worker's process at one port. */
type Taker = {
  readonly give: (socket: Socket) => void;
  /** Connections on their way to it. */
  readonly pending: Socket[];
  open: number;
};

/**
 * The ports that workers listen on, for which this process accepts. A connection goes to the worker
 * that has the fewest, because those of an Envoy are few and long. Node's cluster gives them in
 * turn. It also loses a connection on its way to a worker that dies, which then stays open without
 * an answer (nodejs/node issue 21746).
 */
export class SharedPorts {
  readonly #ports = new Map<string, Promise<SharedPort>>();

  /** Answers what a worker's process asks. Returns what is to be done when it has ended. */
  serve(calls: Calls, give: Give): () => void {
    const at = new Map<string, { readonly port: SharedPort; readonly taker: Taker }>();
    let isGone = false;
    const leave = (name: string) => {
      const place = at.get(name);
      at.delete(name);
      if (place?.port.remove(place.taker)) this.#ports.delete(name);
    };
    calls.answer('listen', async body => {
      const { host, name, port } = isJsonObject(body) ? body : {};
      const opened = await this.#open(String(name), String(host), Number(port));
      const taker: Taker = { give: socket => give(String(name), socket), pending: [], open: 0 };
      opened.add(taker);
      at.set(String(name), { port: opened, taker });
      if (isGone) leave(String(name));
      return opened.address;
    });
    calls.answer('took', name => {
      const taker = at.get(String(name))?.taker;
      const socket = taker?.pending.shift();
      if (taker === undefined || socket === undefined) return;
      taker.open += 1;
      socket.destroy(); // the worker has its own
    });
    calls.answer('closed', name => {
      const taker = at.get(String(name))?.taker;
      if (taker !== undefined) taker.open -= 1;
    });
    const leaveAll = () => [...at.keys()].forEach(leave);
    calls.answer('leave ports', leaveAll);
    return () => {
      isGone = true;
      for (const { taker } of at.values()) for (const socket of taker.pending) socket.destroy();
      leaveAll();
    };
  }

  /** Several callers that ask at once share one open. */
  #open(name: string, host: string, port: number): Promise<SharedPort> {
    const opening = this.#ports.get(name) ?? openSharedPort(host, port);
    this.#ports.set(name, opening);
    opening.catch(() => this.#ports.delete(name));
    return opening;
  }
}

async function openSharedPort(host: string, port: number): Promise<SharedPort> {
  const server = net.createServer({ pauseOnConnect: true, noDelay: true });
  server.listen(port, host);
  await once(server, 'listening');
  return new SharedPort(server);
}

class SharedPort {
  readonly #server: net.Server;
  readonly #takers = new Set<Taker>();
  readonly address: Json;

  constructor(server: net.Server) {
    this.#server = server;
    const { address, port } = server.address() as AddressInfo;
    this.address = { address, port };
    server.on('connection', socket => this.#give(socket));
  }

  add(taker: Taker): void {
    this.#takers.add(taker);
  }

  /** Returns true when it was the last one, and the port is closed. */
  remove(taker: Taker): boolean {
    this.#takers.delete(taker);
    if (this.#takers.size > 0) return false;
    this.#server.close();
    return true;
  }

  /**
   * Among workers with equally few, picks the one that has waited longest. A worker that is slow to
   * take a connection gets no further ones.
   */
  #give(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    const [taker] = [...this.#takers].sort(
      (one, other) => one.pending.length - other.pending.length || one.open - other.open,
    );
    if (taker === undefined) {
      socket.destroy();
      return;
    }
    this.#takers.delete(taker);
    this.#takers.add(taker);
    taker.pending.push(socket);
    taker.give(socket);
  }
}
