import type { JsonObject } from '#protos/json.ts';
import type { ModuleConfig } from '#resources/kinds/module/module.ts';
import { extension } from './extension.ts';

/** A header that the gateway sets. `value` may hold formatters of Envoy. */
export type HeaderChange = {
  readonly key: string;
  readonly value: string;
  readonly append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' | 'ADD_IF_ABSENT';
};

/** The dynamic metadata for the port that a client wrote behind the host. */
const NAMESPACE = 'gateway.authority';

type Trust = Pick<ModuleConfig, 'use_remote_address' | 'xff_num_trusted_hops'>;

/**
 * Returns X-Forwarded-Host and X-Forwarded-Port as the edge sets them before anything decides. A
 * trusted proxy in front has set them already, as with X-Forwarded-Proto.
 */
export function forwardedHeaders(trust: Trust, hasTls: boolean): readonly HeaderChange[] {
  const host = { key: 'x-forwarded-host', value: '%REQ(:AUTHORITY)%' };
  if (trustsProxy(trust)) return [{ ...host, append_action: 'ADD_IF_ABSENT' }];
  const port = { key: 'x-forwarded-port', value: hasTls ? '443' : '80' };
  return [host, port].map(each => ({ ...each, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' }));
}

/**
 * Returns the headers that say the same in another form (RFC 7239), or more of it. Some frameworks
 * believe them first. Only a trusted proxy in front may send them.
 */
export function otherForwardedHeaders(trust: Trust): readonly string[] {
  return trustsProxy(trust) ? [] : ['forwarded', 'x-forwarded-prefix'];
}

/**
 * Returns the part of the edge's `RouteConfiguration` for the port that the client wrote. Without
 * one the default of the scheme counts.
 */
export function forwardedPort(trust: Trust): JsonObject {
  const header = { key: 'x-forwarded-port', value: `%DYNAMIC_METADATA(${NAMESPACE}:port)%` };
  const append_action = trustsProxy(trust) ? 'ADD_IF_ABSENT' : 'OVERWRITE_IF_EXISTS_OR_ADD';
  return { header, append_action };
}

/**
 * All of an authority but its port. Where that is not 1 to 5 digits, it is all. It has no group,
 * because RE2 takes three times as long with one [measured].
 */
const BEFORE_PORT = '^(?:.*[^0-9:])?[0-9]*$|^.*:[0-9]{6,}$|^.*:';

/** Reads the port. Envoy's formatters cannot split a header. */
export const PORT_READER: JsonObject = {
  name: 'envoy.filters.http.header_to_metadata',
  typed_config: extension('filters.http.header_to_metadata.v3.Config', {
    request_rules: [
      {
        header: ':authority',
        on_header_present: {
          metadata_namespace: NAMESPACE,
          key: 'port',
          regex_value_rewrite: { pattern: { regex: BEFORE_PORT }, substitution: '' },
        },
      },
    ],
  }),
};

function trustsProxy({ use_remote_address, xff_num_trusted_hops }: Trust): boolean {
  return !use_remote_address || xff_num_trusted_hops > 0;
}
