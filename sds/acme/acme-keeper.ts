import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { acmeProof } from '#certificates/authority/acme-proof.ts';
import type { KeyPair } from '#certificates/authority/key-pair.ts';
import type { CertificateRenewal } from '#process/orders.ts';
import type { Clock } from '../secrets/clock.ts';
import type { KeptSecret } from '../secrets/kept-secret.ts';
import { accountKey } from './account-key.ts';
import { acmeLibrary } from './acme-library.ts';
import type { AcmeRecord, Challenge, ChallengeType } from './acme-record.ts';
import type { AcmeSettings, KeptIn } from './acme-settings.ts';
import { type AuthorityError, failureOf } from './authority-error.ts';
import { type KeptCertificate, type KeptPair, readKept, writeKept } from './kept-certificate.ts';
import { LOOK_MS, nextChallenge, nextStep, otherChallenge } from './next-step.ts';
import { orderCertificate, revokeCertificate } from './order-certificate.ts';
import { pauseAfter } from './pause-after.ts';

export type AcmeParts = {
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns what is kept under a name, of a certificate with its key or of an account's key. */
  open(place: KeptIn, of: 'certificate' | 'account'): KeptSecret;
};

/** Hears of the certificate of one Host. */
export type AcmeListener = {
  onPair(pair: KeyPair): void;
  /** There is no certificate, for this reason. */
  onTrouble(reason: string): void;
  /** What the operator should know beside that. Empty: nothing. */
  onNotes(notes: readonly string[]): void;
  /**
   * Returns since when a proxy that serves the Host is connected, in ms since the epoch. Undefined:
   * none is, so an authority would find nothing.
   */
  servedSince(): number | undefined;
  /** The proof of the name, with which TLS answers an authority. Undefined: no order is open. */
  onProof(pair: KeyPair | undefined): void;
};

/** In ms. After that another process may open an order, as when this one was killed. */
const CLAIM_MS = 180_000;
/** Strangers may ask for any token. What is kept is read for them once in this time, in ms. */
const READ_MS = 1_000;
const WRITES = 20;

/** Orders the certificate of one Host, renews it, and shares it with other processes. */
export class AcmeKeeper {
  readonly #settings: AcmeSettings;
  readonly #parts: AcmeParts;
  readonly #listener: AcmeListener;
  readonly #me = randomUUID();
  readonly #spread: number;
  readonly #kept: KeptSecret;
  /** Issued and served, and not kept yet. */
  #unsaved: KeyPair | undefined;
  #challenge: Challenge | undefined;
  #shown: string | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Ends when what was read then is known. */
  #reading: Promise<unknown> = Promise.resolve();
  #cancel = () => {};
  #waits = false;
  #ended = false;

  constructor(settings: AcmeSettings, parts: AcmeParts, listener: AcmeListener) {
    this.#settings = settings;
    this.#parts = parts;
    this.#listener = listener;
    this.#spread = parts.clock.random();
    this.#kept = parts.open(settings.certificate, 'certificate');
    void this.#turn();
  }

  close(): void {
    this.#ended = true;
    this.#cancel();
  }

  /**
   * Answers an authority that asks for a token over HTTP.
   * @returns undefined when no order has this token
   */
  async answer(token: string): Promise<string | undefined> {
    // Another process may have opened the order.
    if (this.#challenge?.token !== token) await this.#readForStrangers();
    return this.#challenge?.token === token ? this.#challenge.keyAuthorization : undefined;
  }

  /** All who ask within READ_MS wait for one read, as an authority in several places does. */
  #readForStrangers(): Promise<unknown> {
    const now = this.#parts.clock.now();
    const age = now - this.#readAt;
    // The clock may be set back.
    if (age < 0 || age >= READ_MS) {
      this.#readAt = now;
      this.#reading = this.#read().catch(() => {});
    }
    return this.#reading;
  }

  /**
   * Has the certificate of this serial, or else the one that is kept, replaced at once by whichever
   * process takes the order first. Returns what was done. With `revoke` the authority is told
   * before, and rejects it when it cannot be.
   */
  async replace(
    order: string,
    { revoke, serial }: Omit<CertificateRenewal, 'hostname'>,
  ): Promise<string> {
    const done = `${revoke ? 'it is revoked, and another' : 'another certificate'} is ordered`;
    let [isRevoked, replaced] = [false, serial];
    for (let attempt = 1; attempt <= WRITES; attempt += 1) {
      const now = this.#parts.clock.now();
      const kept = await readKept(this.#kept, this.#settings.hostname, now);
      if (kept.record.order === order) return done;
      replaced ??= kept.pair?.serial ?? '';
      if ((kept.pair?.serial ?? '') !== replaced) return 'it has another certificate by now';
      if (revoke && kept.pair !== undefined && !isRevoked) await this.#revoke(kept.pair, kept);
      isRevoked = revoke;
      const { failures: _, ...record } = kept.record;
      if (await writeKept(this.#kept, kept, { ...record, replaced, order })) {
        if (this.#waits) this.#turnNow();
        return done;
      }
    }
    throw new Error(`other processes keep changing ${this.#kept.place}`);
  }

  async #revoke({ certificate }: KeptPair, { record }: KeptCertificate): Promise<void> {
    const { directory, hostname } = this.#settings;
    if ((record.directory ?? directory) !== directory)
      throw new Error(`the certificate is of ${record.directory}, which must revoke it`);
    await revokeCertificate(await this.#account(), certificate);
    this.#parts.log.info({ hostname, directory }, 'certificate revoked');
  }

  #turnNow(): void {
    this.#cancel();
    void this.#turn();
  }

  async #turn(): Promise<void> {
    this.#waits = false;
    let ms = LOOK_MS.near;
    try {
      ms = await this.#tend();
    } catch (error) {
      this.#tell([`the certificate cannot be kept: ${(error as Error).message}`], undefined);
    }
    if (this.#ended) return;
    this.#waits = true;
    this.#cancel = this.#parts.clock.after(ms, () => void this.#turn());
  }

  /** Returns the ms until the next look. */
  async #tend(): Promise<number> {
    if (this.#unsaved !== undefined) await this.#save(this.#unsaved);
    const kept = await this.#read();
    const now = this.#parts.clock.now();
    const next = nextStep({
      record: kept.record,
      validity: this.#validityOf(kept),
      servedSince: this.#listener.servedSince(),
      me: this.#me,
      now,
      spread: this.#spread,
    });
    this.#report(kept);
    if (next.kind === 'wait') return next.ms;
    if (!this.#ended) await this.#order(kept);
    return 0;
  }

  /** Reads what is kept, and passes it on. */
  async #read(): Promise<KeptCertificate> {
    const kept = await readKept(this.#kept, this.#settings.hostname, this.#parts.clock.now());
    if (this.#ended) return kept;
    if (kept.pair !== undefined && this.#unsaved === undefined) this.#listener.onPair(kept.pair);
    this.#show(kept.record);
    return kept;
  }

  /** What is of another authority, or was asked for, is served and replaced at once. */
  #validityOf({ pair, record }: KeptCertificate) {
    const { directory = this.#settings.directory, replaced } = record;
    const isKept = directory === this.#settings.directory && replaced !== pair?.serial;
    return isKept ? pair?.validity : undefined;
  }

  #report({ pair, record }: KeptCertificate): void {
    const { directory } = this.#settings;
    const { failures } = record;
    if (failures !== undefined) {
      const said = Object.entries(failures.reasons).map(([way, reason]) =>
        way === '' ? reason : `${way}: ${reason}`,
      );
      const next = new Date(failures.notBefore).toISOString().slice(0, 19);
      const notes = [
        `${directory} issues no certificate (${said.join('. ')}). Next attempt: ${next}Z`,
      ];
      this.#tell(notes, pair);
    } else if (pair === undefined) {
      const isServed = this.#listener.servedSince() !== undefined;
      const note = isServed
        ? `a certificate is being ordered from ${directory}`
        : `a certificate is ordered from ${directory} once a proxy of the edge is connected`;
      this.#listener.onNotes([`${note}. There is no https until it is here`]);
    } else this.#listener.onNotes([]);
  }

  #tell(notes: readonly string[], pair: KeyPair | undefined): void {
    if (this.#ended) return;
    this.#listener.onNotes(pair === undefined ? [] : notes);
    if (pair === undefined) this.#listener.onTrouble(notes.join('. '));
  }

  async #order(kept: KeptCertificate): Promise<void> {
    const { clock, log } = this.#parts;
    const { directory, hostname } = this.#settings;
    const claim = { by: this.#me, until: clock.now() + CLAIM_MS };
    if (!(await writeKept(this.#kept, kept, { ...kept.record, claim }))) return;
    const wanted = nextChallenge(kept.record);
    log.info({ hostname, directory, wanted }, 'ordering a certificate');
    const pair = await this.#orderBy(wanted).catch(failureOf);
    if ('kind' in pair) return await this.#fail(wanted, pair);
    this.#unsaved = pair;
    if (!this.#ended) this.#listener.onPair(pair);
    log.info({ hostname, directory }, 'certificate issued');
    await this.#save(pair);
  }

  async #save(pair: KeyPair): Promise<void> {
    const { directory } = this.#settings;
    await this.#update(({ claim, order, proved }) => {
      const type = claim?.challenge?.type ?? proved;
      return {
        directory,
        ...(type !== undefined && { proved: type }),
        ...(order !== undefined && { order }),
      };
    }, pair);
    this.#unsaved = undefined;
  }

  async #orderBy(wanted: ChallengeType): Promise<KeyPair> {
    return await orderCertificate({
      ...(await this.#account()),
      wanted,
      prove: challenge => this.#prove(challenge),
      now: this.#parts.clock.now,
    });
  }

  async #account() {
    const { clock, open } = this.#parts;
    const acme = await acmeLibrary(clock.now);
    const generate = async () => String(await acme.crypto.createPrivateEcdsaKey());
    const key = await accountKey(open(this.#settings.account, 'account'), generate);
    return { acme, settings: this.#settings, accountKey: key };
  }

  async #prove(challenge: Challenge): Promise<void> {
    await this.#update(({ claim, ...rest }) => ({
      ...rest,
      ...(claim !== undefined && {
        claim: { ...claim, until: this.#parts.clock.now() + CLAIM_MS, challenge },
      }),
    }));
    // Over HTTP another process reads it when it is asked, unless it has just read for a stranger.
    // Over TLS it has to know it before.
    await this.#pause(challenge.type === 'tls-alpn-01' ? 2 * LOOK_MS.near : READ_MS);
  }

  async #fail(way: ChallengeType, failure: AuthorityError): Promise<void> {
    const { clock, log } = this.#parts;
    const { hostname } = this.#settings;
    log.warn({ hostname, way, reason: failure.message }, 'no certificate was issued');
    await this.#update(({ directory, failures, order, proved, replaced }) => {
      const count = (failures?.count ?? 0) + 1;
      const notBefore = Math.round(clock.now() + pauseAfter(failure, count, clock.random()));
      const isRefused = failure.kind === 'refused';
      const { '': _away, ...before } = failures?.reasons ?? {};
      const reasons = { ...before, [isRefused ? way : '']: failure.message };
      const next = isRefused ? otherChallenge(way) : way;
      return {
        ...(directory !== undefined && { directory }),
        ...(proved !== undefined && { proved }),
        ...(replaced !== undefined && { replaced }),
        ...(order !== undefined && { order }),
        failures: { count, next, notBefore, reasons },
      };
    });
  }

  /** Changes what is kept, while this process has the claim. A certificate is kept in any case. */
  async #update(change: (before: AcmeRecord) => AcmeRecord, pair?: KeyPair): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const error = await this.#tryUpdate(change, pair).catch((error: Error) => error);
      if (error === undefined) return;
      if (attempt === WRITES) throw error;
      await this.#pause(LOOK_MS.near);
    }
  }

  /** Returns why it was not written. */
  async #tryUpdate(
    change: (before: AcmeRecord) => AcmeRecord,
    pair: KeyPair | undefined,
  ): Promise<Error | undefined> {
    const kept = await readKept(this.#kept, this.#settings.hostname, this.#parts.clock.now());
    if (kept.record.claim?.by !== this.#me && pair === undefined) return undefined;
    const record = change(kept.record);
    if (!(await writeKept(this.#kept, kept, record, pair)))
      return new Error(`other processes keep changing ${this.#kept.place}`);
    this.#show(record);
    return undefined;
  }

  #pause(ms: number): Promise<void> {
    return new Promise(resolve => void this.#parts.clock.after(ms, resolve));
  }

  /** Shows the proof of an open order, in this process. */
  #show({ claim }: AcmeRecord): void {
    const isOpen = claim !== undefined && claim.until > this.#parts.clock.now();
    this.#challenge = isOpen ? claim.challenge : undefined;
    const { keyAuthorization, type } = this.#challenge ?? {};
    const shown = type === 'tls-alpn-01' ? keyAuthorization : undefined;
    if (shown === this.#shown || this.#ended) return;
    this.#shown = shown;
    if (shown === undefined) this.#listener.onProof(undefined);
    else void this.#showByTls(shown);
  }

  async #showByTls(keyAuthorization: string): Promise<void> {
    const pair = await acmeProof(
      this.#settings.hostname,
      keyAuthorization,
      this.#parts.clock.now(),
    );
    if (this.#shown === keyAuthorization) this.#listener.onProof(pair);
  }
}
