import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type Backend = { readonly address: string; readonly port: number };

/** Where packets come in, and how to choose where they go. */
export type ForwardOptions = Backend & {
  /** Returns undefined when there is none. */
  choose(): Backend | undefined;
};

export type Forwarder = { close(): void };

/** A client of UDP that has said nothing for so long comes back as a new one. */
const UDP_IDLE_MS = 30_000;

/** Forwards connections. Those without a backend, or whose backend refuses, are reset. */
export async function forwardTcp({ address, port, choose }: ForwardOptions): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, client => {
    const backend = choose();
    if (backend === undefined) return void client.resetAndDestroy();
    const upstream = connect({
      host: backend.address,
      port: backend.port,
      allowHalfOpen: true,
      noDelay: true,
    });
    join(client, upstream, sockets);
    join(upstream, client, sockets);
  });
  server.listen(port, address);
  await once(server, 'listening');
  return {
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function join(from: Socket, to: Socket, sockets: Set<Socket>): void {
  sockets.add(from);
  from.pipe(to);
  from.on('error', () => to.resetAndDestroy());
  from.on('close', () => {
    sockets.delete(from);
    to.end();
  });
}

/** Forwards datagrams. Those of one client go to one backend, and its answers come back. */
export async function forwardUdp({ address, port, choose }: ForwardOptions): Promise<Forwarder> {
  const clients = new Map<string, { readonly socket: UdpSocket; timer: NodeJS.Timeout }>();
  const server = createSocket('udp4');
  const clientOf = (from: Backend) => {
    const key = `${from.address}:${from.port}`;
    const found = clients.get(key);
    if (found !== undefined) {
      found.timer.refresh();
      return found.socket;
    }
    const backend = choose();
    if (backend === undefined) return undefined;
    const socket = createSocket('udp4');
    const end = () => {
      if (clients.delete(key)) socket.close();
    };
    clients.set(key, { socket, timer: setTimeout(end, UDP_IDLE_MS).unref() });
    socket.on('message', message => server.send(message, from.port, from.address));
    socket.on('error', end);
    socket.connect(backend.port, backend.address);
    return socket;
  };
  server.on('message', (message, from) => {
    const socket = clientOf(from);
    // A datagram that comes before the socket is connected waits for that.
    const send = () => socket?.send(message, () => {});
    if (socket !== undefined && !isConnected(socket)) socket.once('connect', send);
    else send();
  });
  server.bind(port, address);
  await once(server, 'listening');
  return {
    close() {
      server.close();
      for (const { socket, timer } of clients.values()) {
        clearTimeout(timer);
        socket.close();
      }
      clients.clear();
    },
  };
}

function isConnected(socket: UdpSocket): boolean {
  try {
    socket.remoteAddress();
    return true;
  } catch {
    return false;
  }
}
