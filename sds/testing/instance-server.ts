import http from 'node:http';

/**
 * An instance of a service: answers its address, on `/slow` after 300 ms. It runs as a process of
 * its own: `instance-server.ts address port`.
 */
const [, , address = '', port = ''] = process.argv;

const server = http.createServer(({ url }, response) => {
  if (url !== '/slow') return void response.end(address);
  setTimeout(() => response.end(address), 300);
});
server.keepAliveTimeout = 0;
server.listen(Number(port), address);
