import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import { remembered } from '#xds/remembered.ts';

/**
 * The header that makes an extended CONNECT (RFC 8441), which has no key, a WebSocket handshake
 * for services that speak HTTP/1.1. Most of them reject one without a key. Envoy adds none
 * [measured on Envoy 1.40]. The key proves something to the client alone, which has not asked for
 * that, so that it need not be random. A table of routes has it once, because Envoy compiles the
 * expression of each route that has one [measured].
 */
export const WEB_SOCKET_KEY: JsonObject = {
  header: {
    key: 'sec-websocket-key',
    value:
      "%CEL(request.protocol == 'HTTP/2' && 'upgrade' in request.headers && request.headers['upgrade'] == 'websocket' ? 'd2l0aG91dCBhIG5vbmNlLg==' : '')%",
  },
  append_action: 'ADD_IF_ABSENT',
};

/** Returns whether a route lets a request become a WebSocket. Other tables save the expression. */
export function takeWebSockets(virtualHosts: readonly JsonObject[]): boolean {
  return virtualHosts.some(({ routes }) => Array.isArray(routes) && haveWebSocket(routes));
}

/** A list of routes that does not change is the very same one in the next compilation. */
const haveWebSocket = remembered((routes: readonly Json[]): boolean =>
  objectsIn(routes).some(
    ({ route }) =>
      isJsonObject(route) &&
      objectsIn(route.upgrade_configs).some(({ upgrade_type }) => upgrade_type === 'websocket'),
  ),
);
