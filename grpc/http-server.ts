import http, { type RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** The longest that a client may take to send a request, and its header fields, in ms. */
const HTTP_TIMES = { requestTimeout: 30_000, headersTimeout: 10_000 };

/**
 * Requests of a connection that are answered at a time. Node begins all that one read brings, which
 * may be 1,300, before anything else has its turn. Clients of ours send one after the other.
 */
const MOST_PIPELINED = 16;

/**
 * Creates a server of HTTP/1.1. It closes a connection whose client is slow, or sends many requests
 * before they are answered.
 */
export function createHttpServer(listener: RequestListener): http.Server {
  const open = new WeakMap<Socket, number>();
  const openOf = (socket: Socket) => open.get(socket) ?? 0;
  return http.createServer(HTTP_TIMES, (request, response) => {
    const { socket } = request;
    if (openOf(socket) >= MOST_PIPELINED) return void socket.destroy();
    open.set(socket, openOf(socket) + 1);
    response.once('close', () => open.set(socket, openOf(socket) - 1));
    listener(request, response);
  });
}
