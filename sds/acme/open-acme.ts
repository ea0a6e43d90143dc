import type { CertificateRenewal } from '#process/orders.ts';
import { AcmeKeeper, type AcmeListener, type AcmeParts } from './acme-keeper.ts';
import type { AcmeSettings } from './acme-settings.ts';

/** The certificates that ACME authorities issue. */
export type Acme = {
  /** Keeps a certificate until the result is called. */
  keep(settings: AcmeSettings, listener: AcmeListener): () => void;
  /**
   * Answers an authority that asks a host for a token (RFC 8555, section 8.3).
   * @returns undefined when no order of this host has the token
   */
  answer(hostname: string, token: string): Promise<string | undefined>;
  /**
   * Has a certificate replaced at once, by an order that all processes take. Returns what was done.
   * Rejects with why nothing was, in the authority's words when it refused.
   */
  renew(order: string, renewal: CertificateRenewal): Promise<string>;
};

export function openAcme(parts: AcmeParts): Acme {
  const keepers = new Map<string, AcmeKeeper>();
  return {
    keep(settings, listener) {
      const { hostname } = settings;
      const keeper = new AcmeKeeper(settings, parts, listener);
      keepers.set(hostname, keeper);
      return () => {
        keeper.close();
        if (keepers.get(hostname) === keeper) keepers.delete(hostname);
      };
    },
    answer: async (hostname, token) => await keepers.get(hostname)?.answer(token),
    async renew(order, { hostname, ...renewal }) {
      const keeper = keepers.get(hostname);
      if (keeper === undefined) throw new Error('it keeps no certificate for this name');
      return await keeper.replace(order, renewal);
    },
  };
}
