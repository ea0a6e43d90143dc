/** An echo server that is attacked from outside, and reports what the attack costs it. */
import { serveUnary } from '../serve-unary.ts';
import { echo } from './echo-server.ts';

const served = await serveUnary({
  host: '127.0.0.1',
  port: 0,
  methods: [echo],
  onError: error => {
    throw error;
  },
  limits: JSON.parse(process.argv[2] ?? '{}'),
});
process.on('message', () => {
  const { rss } = process.memoryUsage();
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const connections = process
    .getActiveResourcesInfo()
    .filter(name => name === 'TCPSocketWrap').length;
  process.send?.({
    rss,
    highest: maxRSS * 1024,
    cpuMicros: userCPUTime + systemCPUTime,
    connections,
  });
});
process.on('disconnect', () => process.exit());
process.send?.({ port: served.port });
