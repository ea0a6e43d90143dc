import { decodeAny } from '#protos/decode.ts';
import type { Any } from '#protos/encode.ts';
import { type Json, type JsonObject, objectsIn } from '#protos/json.ts';

/** What a service tells of what it has decided, for people who look. */
export type ServiceFacts = {
  /** Counters at 80 % of their rate or more, the newest first. */
  readonly limits: readonly LimitUse[];
  /** Logins, the newest first. */
  readonly logins: readonly Login[];
};

export type LimitUse = {
  /** Its name in logs and metrics. */
  readonly limit: string;
  readonly domain: string;
  /** A label without a value may hold a credential, so the service keeps it. */
  readonly labels: readonly { readonly key: string; readonly value?: string }[];
  readonly over: boolean;
  /** When it was last counted, in ms since the epoch. */
  readonly at: number;
};

export type Login = {
  /** `<name>.<namespace>` of the Filter. */
  readonly filter: string;
  /** The claim `sub`. */
  readonly user: string;
  readonly at: number;
};

export const NO_FACTS: ServiceFacts = { limits: [], logins: [] };

/** The most of each that is told. */
export const MOST_FACTS = 100;
const MOST_LABELS = 20;
const LONGEST = 200;

/** Returns the fields of a Report that hold the facts. */
export function factFields({ limits, logins }: ServiceFacts): JsonObject {
  return {
    limits: limits.slice(0, MOST_FACTS).map(({ at, domain, labels, limit, over }) => ({
      ...{ limit: cut(limit), domain: cut(domain), over, at },
      labels: labels.slice(0, MOST_LABELS).map(({ key, value }) => ({
        key: cut(key),
        ...(value === undefined ? { hidden: true } : { value: cut(value) }),
      })),
    })),
    logins: logins.slice(0, MOST_FACTS).map(({ at, filter, user }) => ({
      ...{ filter: cut(filter), user: cut(user), at },
    })),
  };
}

function cut(text: string): string {
  return text.slice(0, LONGEST).toWellFormed();
}

/** Returns the facts of a Report that was accepted, cut to what may be told. */
export function decodeFacts(report: Any): ServiceFacts {
  const { limits, logins } = decodeAny(report);
  return {
    limits: objectsIn(limits).slice(0, MOST_FACTS).map(toUse),
    logins: objectsIn(logins)
      .slice(0, MOST_FACTS)
      .map(({ at, filter, user }) => ({
        filter: text(filter),
        user: text(user),
        at: Number(at ?? 0),
      })),
  };
}

function toUse({ at, domain, labels, limit, over }: JsonObject): LimitUse {
  const all = objectsIn(labels).slice(0, MOST_LABELS);
  return {
    limit: text(limit),
    domain: text(domain),
    labels: all.map(({ hidden, key, value }) => ({
      key: text(key),
      ...(hidden === true ? {} : { value: text(value) }),
    })),
    over: over === true,
    at: Number(at ?? 0),
  };
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? cut(value) : '';
}
