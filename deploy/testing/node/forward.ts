import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type Backend = { readonly address: string; readonly port: number };

/** Where packets come in, and how to choose where they go. */
export type ForwardOptions = Backend & {
  /** Returns undefined when there is none. */
  choose(): Backend | undefined;
  /** Tells whether clients that have this backend keep it. */
  keeps(backend: Backend): boolean;
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

type UdpClient = { readonly socket: UdpSocket; readonly backend: Backend; timer: NodeJS.Timeout };

/**
 * Forwards datagrams. Those of one client go to one backend, and its answers come back. A backend
 * that no longer serves loses its clients, as kube-proxy cleans up the kernel's connections.
 */
export async function forwardUdp(options: ForwardOptions): Promise<Forwarder> {
  const { address, port, choose, keeps } = options;
  const clients = new Map<string, UdpClient>();
  const server = createSocket('udp4');
  const forget = (key: string, { socket, timer }: UdpClient) => {
    clients.delete(key);
    clearTimeout(timer);
    socket.close();
  };
  const clientOf = (from: Backend) => {
    const key = `${from.address}:${from.port}`;
    const found = clients.get(key);
    if (found !== undefined && keeps(found.backend)) {
      found.timer.refresh();
      return found.socket;
    }
    if (found !== undefined) forget(key, found);
    const backend = choose();
    if (backend === undefined) return undefined;
    const socket = createSocket('udp4');
    const end = () => {
      if (clients.get(key) === client) forget(key, client);
    };
    const client = { socket, backend, timer: setTimeout(end, UDP_IDLE_MS).unref() };
    clients.set(key, client);
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
      for (const [key, client] of clients) forget(key, client);
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
