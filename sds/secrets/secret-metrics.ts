import { Counter, Gauge, type Registry } from 'prom-client';
import { knownCertificates, type SecretsState } from './known-certificates.ts';

export type SecretMetrics = {
  /** Counts an issued identity, the first one or a renewal. */
  issued(): void;
  /** Counts something that must not be sent. */
  rejected(): void;
  /** Sets where the gauges read the state. */
  observe(state: () => SecretsState): void;
};

/**
 * Creates the metrics of secrets: when certificates expire, renewals and rejections. `now` is in
 * milliseconds since the epoch.
 */
export function createSecretMetrics(registry: Registry, now: () => number): SecretMetrics {
  const registers = [registry];
  let state: (() => SecretsState) | undefined;
  const issued = new Counter({
    name: 'sds_identities_issued_total',
    help: 'Certificates of node groups that the authority has issued',
    registers,
  });
  const rejected = new Counter({
    name: 'sds_secrets_rejected_total',
    help: 'Secrets that came and were not sent, because they could not be used',
    registers,
  });
  new Gauge({
    name: 'sds_certificate_seconds_left',
    help: 'Seconds until a certificate ends, by what it is (identity, written, served, root) and its group, name or serial',
    labelNames: ['kind', 'name'],
    registers,
    collect() {
      this.reset();
      for (const { kind, name, notAfter, serial } of state ? knownCertificates(state()) : [])
        this.set({ kind, name: name || serial }, (notAfter - now()) / 1_000);
    },
  });
  new Gauge({
    name: 'sds_secrets_broken',
    help: 'Served secrets whose newest content cannot be used, so the earlier one stays in force',
    registers,
    collect() {
      const slots = [...(state?.().served ?? [])];
      this.set(slots.filter(({ problem }) => problem !== undefined).length);
    },
  });
  return {
    issued: () => issued.inc(),
    rejected: () => rejected.inc(),
    observe(from) {
      state = from;
    },
  };
}
