/**
 * A process that allows every check, to measure what a check costs without a decision. The first
 * argument names its HTTP/2 implementation: `grpc-js`, or `framed`, which ext-authz uses.
 */
import { protobufCodec } from '#grpc/unary/protobuf-codec.ts';
import { serveOnGrpcJs } from '#grpc/unary/serve-on-grpc-js.ts';
import { type ServeUnaryOptions, serveUnary } from '#grpc/unary/serve-unary.ts';

const ALLOW = { status: { code: 0 }, ok_response: {} };

const [, , server] = process.argv;
const options: ServeUnaryOptions = {
  host: '127.0.0.1',
  port: 0,
  methods: [
    {
      path: '/envoy.service.auth.v3.Authorization/Check',
      ...protobufCodec('envoy.service.auth.v3.CheckRequest', 'envoy.service.auth.v3.CheckResponse'),
      handle: () => ALLOW,
    },
  ],
  onError: error => process.stderr.write(`${error}\n`),
};
const served = await (server === 'grpc-js' ? serveOnGrpcJs : serveUnary)(options);
served.setServing(true);
process.once('disconnect', () => process.exit(0));
process.send?.({ listening: true, port: served.port });
process.send?.({ ready: true });
