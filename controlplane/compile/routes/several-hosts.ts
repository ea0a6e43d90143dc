import type { JsonObject } from '#protos/json.ts';
import { GATEWAY_ROUTE, WITHOUT_FILTERS } from '../ext-authz/ext-authz-filter.ts';

const BODY = JSON.stringify({
  message: 'Bad request: it names more than one host.',
  status_code: 400,
});

/**
 * Answers 400 to a request that names several hosts (RFC 9112, section 3.2). Envoy joins Host
 * fields by a comma, so the gateway and the service could each take a different one for the host.
 * Only a wildcard covers such a name.
 */
export const SEVERAL_HOSTS: JsonObject = {
  name: GATEWAY_ROUTE,
  match: {
    prefix: '/',
    headers: [{ name: ':authority', string_match: { contains: ',' } }],
  },
  direct_response: { status: 400, body: { inline_string: BODY } },
  response_headers_to_add: [
    {
      header: { key: 'content-type', value: 'application/json' },
      append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
    },
  ],
  ...WITHOUT_FILTERS,
};
