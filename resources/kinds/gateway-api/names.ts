import * as z from 'zod';

const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const TOKEN = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;

/** Name of a DNS subdomain, with labels of any length, as the API's own definitions check it. */
export const SUBDOMAIN_NAME = new RegExp(`^${SUBDOMAIN}$`);

/** Group of a kind. It is empty for Kubernetes' own, such as Service. */
export const group = z
  .string()
  .max(253)
  .regex(new RegExp(`^$|^${SUBDOMAIN}$`))
  .meta({ form: 'a group such as `gateway.networking.k8s.io`, or ""' });

export const kindName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$/)
  .meta({ form: 'the name of a kind' });

export const objectName = z
  .string()
  .min(1)
  .max(253)
  .meta({ form: 'a name of at most 253 characters' });

export const namespaceName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
  .meta({ form: 'the name of a namespace' });

/** Name of a listener, of a rule or of a port. */
export const sectionName = z
  .string()
  .min(1)
  .max(253)
  .regex(SUBDOMAIN_NAME)
  .meta({ form: 'a name of lower-case letters, digits, "-" and "."' });

/** Host name of requests, which may begin with `*.`. */
export const hostname = z
  .string()
  .min(1)
  .max(253)
  .regex(new RegExp(`^(\\*\\.)?${SUBDOMAIN}$`))
  .meta({ form: 'a host name in lower case, or one that begins with "*."' });

export const preciseHostname = z
  .string()
  .min(1)
  .max(253)
  .regex(SUBDOMAIN_NAME)
  .meta({ form: 'a host name in lower case without "*"' });

export const portNumber = z.int().min(1).max(65_535).meta({ form: 'a port from 1 to 65535' });

/** Name of a header, of a query parameter or of a cookie (RFC 9110 section 5.6.2). */
export const tokenName = z
  .string()
  .min(1)
  .max(256)
  .regex(TOKEN)
  .meta({ form: 'a name of at most 256 characters, as RFC 9110 section 5.6.2 defines a token' });

/** Settings that the API leaves to implementations. None is read here. */
export const options = z
  .record(z.string(), z.string().max(4096))
  .check(most(16, 'options'))
  .meta({ form: 'a map from name to text' });

/** Returns a check for the most entries of a map. */
export function most(count: number, what: string): z.core.CheckFn<Record<string, unknown>> {
  return context => {
    const { length } = Object.keys(context.value);
    if (length <= count) return;
    const message = `there may be ${count} ${what}, not ${length}`;
    context.issues.push({ code: 'custom', message, input: context.value });
  };
}
