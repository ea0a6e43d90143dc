import { isIP } from 'node:net';
import { groupOfPeer } from '#certificates/peer.ts';
import { failure, type UnaryCall, type UnaryMethod, type UnaryPeer } from '#grpc/unary/method.ts';
import { protobufCodec } from '#grpc/unary/protobuf-codec.ts';
import type { Message } from '#protos/decode-bytes.ts';

/** The package of the services by which the control plane asks ours what they know. */
const PACKAGE = 'gateway.service.v1';
const GROUP = 'controlplane';

/**
 * Returns a unary method for the control plane alone: by mutual TLS, for the group `controlplane`.
 * Without TLS it is for processes of the same machine. What `handle` throws is UNAVAILABLE where
 * `isOutage` says so.
 */
export function knowledgeMethod(
  service: string,
  method: string,
  handle: (request: Message) => object | Promise<object>,
  isOutage: (error: unknown) => boolean = () => false,
): UnaryMethod {
  const answer = async (request: object) => {
    try {
      return await handle(request as Message);
    } catch (error) {
      if (!isOutage(error)) throw error;
      return failure('UNAVAILABLE', 'the store cannot be asked');
    }
  };
  return {
    path: `/${PACKAGE}.${service}/${method}`,
    ...protobufCodec(`${PACKAGE}.${method}Request`, `${PACKAGE}.${method}Response`),
    handle: (request, call) =>
      mayAct(call) ? answer(request) : failure('PERMISSION_DENIED', DENIED),
  };
}

const DENIED =
  'this is for the control plane alone: by mutual TLS, or without it from the same machine';

function mayAct({ peer }: UnaryCall): boolean {
  return peer !== undefined && isControlPlane(peer());
}

/** The port accepts certificates of its trust domain alone, so any domain is that one. */
export function isControlPlane({ address, certificate }: UnaryPeer): boolean {
  if (certificate === undefined) return isLoopback(address);
  const names = certificate.subjectAltName;
  const [, trustDomain = ''] = /\bspiffe:\/\/([^/]+)\//.exec(names ?? '') ?? [];
  return groupOfPeer(names, trustDomain) === GROUP;
}

function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '');
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}
