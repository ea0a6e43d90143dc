import dgram from 'node:dgram';
import net, { type AddressInfo } from 'node:net';
import dnsPacket, { type Answer, type DecodedPacket, type Packet } from 'dns-packet';

/** What a name is answered with: its records, a response code, or no answer at all. */
export type Zone = Map<string, readonly Answer[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence'>;

export type DnsServer = {
  /** `host:port` */
  readonly address: string;
  /** May be changed at any time. A missing name is NXDOMAIN. */
  readonly zone: Zone;
  /** Every question so far, such as `A user.test`, or `A user.test tcp` over TCP. */
  readonly questions: string[];
  /** UDP answers carry no record and the truncation flag, so that the client has to come by TCP. */
  truncate: boolean;
  close(): void;
};

const RCODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 };

/** A real authoritative DNS server over UDP and TCP, by default on a free port of the loopback. */
export async function startDnsServer(host = '127.0.0.1', wanted = 0): Promise<DnsServer> {
  const udp = dgram.createSocket('udp4');
  const tcp = net.createServer();
  await new Promise<void>(resolve => tcp.listen(wanted, host, resolve));
  const { port } = tcp.address() as AddressInfo;
  await new Promise<void>(resolve => udp.bind(port, host, resolve));
  const sockets = new Set<net.Socket>();
  const server: DnsServer = {
    address: `${host}:${port}`,
    zone: new Map(),
    questions: [],
    truncate: false,
    close() {
      udp.close();
      tcp.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  udp.on('message', (message, peer) => {
    const response = answer(server, dnsPacket.decode(message), 'udp');
    if (response !== undefined) udp.send(dnsPacket.encode(response), peer.port, peer.address);
  });
  tcp.on('connection', socket => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', data => {
      const response = answer(server, dnsPacket.streamDecode(data) as DecodedPacket, 'tcp');
      if (response !== undefined) socket.write(dnsPacket.streamEncode(response));
    });
  });
  return server;
}

function answer(
  server: DnsServer,
  query: DecodedPacket,
  transport: 'udp' | 'tcp',
): Packet | undefined {
  const [question] = query.questions ?? [];
  if (question === undefined) return undefined;
  server.questions.push(`${question.type} ${question.name}${transport === 'tcp' ? ' tcp' : ''}`);
  const found = server.zone.get(question.name.toLowerCase()) ?? 'NXDOMAIN';
  if (found === 'silence') return undefined;
  const truncated = server.truncate && transport === 'udp';
  const records = typeof found === 'string' || truncated ? [] : found;
  const rcode = typeof found === 'string' ? RCODES[found] : RCODES.NOERROR;
  return {
    type: 'response',
    ...(query.id === undefined ? {} : { id: query.id }),
    flags: dnsPacket.AUTHORITATIVE_ANSWER | (truncated ? dnsPacket.TRUNCATED_RESPONSE : 0) | rcode,
    questions: [question],
    answers: records.filter(record => record.type === question.type),
  };
}
