import { isDeepStrictEqual } from 'node:util';
import type { Purpose } from '#certificates/check-leaf.ts';
import { errorsOf } from '#certificates/finding.ts';
import type { XdsResource } from '#xds/snapshot.ts';
import { type ContentSources, followContent } from './follow-content.ts';
import {
  type CertificateFacts,
  checkContent,
  factsOf,
  type SecretContent,
  secretResource,
} from './secret-content.ts';
import type { ServedSecret } from './served-secret.ts';

/** What is wrong with the secret of this name; `reported`: the control plane tells of it too. */
export type RefusedSecret = {
  readonly secret: string;
  readonly reason: string;
  readonly reported: boolean;
};

export type SlotOptions = ContentSources & {
  readonly versionKey: Uint8Array;
  /** The resource of the slot has changed. */
  onChange(): void;
  /** What came cannot be sent; what was sent before stays. Once for each reason. */
  onRefused(refused: RefusedSecret): void;
  /**
   * What was sent is no longer right, and stays until something else comes. Once for each reason.
   */
  onOver(over: RefusedSecret): void;
  /** What is wrong with the slot, or with what is sent of it, may be something else. */
  onFindings(): void;
};

/**
 * What was refused may be right later, and what is sent may end: it is looked at again after so
 * long, in ms.
 */
const AGAIN_MS = 60_000;

/** One served secret: what it is to be, and the last content of it that may be sent. */
export class SecretSlot {
  readonly #options: SlotOptions;
  #served: ServedSecret;
  #resource: XdsResource | undefined;
  #facts: CertificateFacts | undefined;
  #problem: string | undefined;
  #warnings: readonly string[] = [];
  /** What is sent, and came last. */
  #sent: SecretContent | undefined;
  #end: () => void = () => {};
  #stopLooking: () => void = () => {};

  constructor(served: ServedSecret, options: SlotOptions) {
    this.#options = options;
    this.#served = served;
    this.#follow();
  }

  /**
   * Another definition of the same name. What is sent stays until the new content has come and may
   * be sent.
   */
  replace(served: ServedSecret): void {
    const sameContent = JSON.stringify(served.content) === JSON.stringify(this.#served.content);
    this.#served = served;
    if (!sameContent) this.#follow();
  }

  get served(): ServedSecret {
    return this.#served;
  }

  get resource(): XdsResource | undefined {
    return this.#resource;
  }

  get facts(): CertificateFacts | undefined {
    return this.#facts;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** Of what is sent. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** The problem is one of what is sent: it was right when it came. */
  get isOver(): boolean {
    return this.#problem !== undefined && this.#sent !== undefined;
  }

  close(): void {
    this.#stopLooking();
    this.#end();
  }

  #follow(): void {
    this.close();
    this.#end = followContent(this.#served.content, this.#options, {
      onContent: next => this.#take(next),
      onTrouble: reason => {
        this.#stopLooking();
        this.#sent = undefined;
        this.#refuse(reason);
      },
    });
  }

  #take(next: SecretContent): void {
    this.#stopLooking();
    const { clock, versionKey, onChange, onFindings } = this.#options;
    const findings = checkContent(next, clock.now(), purposeOf(this.#served));
    const wrong = errorsOf(findings);
    if (wrong !== undefined || this.#served.named !== undefined)
      this.#stopLooking = clock.after(AGAIN_MS, () => this.#take(next));
    if (!isDeepStrictEqual(next, this.#sent)) this.#sent = undefined;
    if (wrong !== undefined) {
      this.#refuse(wrong);
      return;
    }
    this.#problem = undefined;
    this.#warnings = findings.map(({ message }) => message);
    this.#sent = next;
    this.#facts = factsOf(next);
    onFindings();
    const resource = secretResource(this.#served.name, next, versionKey);
    if (resource.version === this.#resource?.version) return;
    this.#resource = resource;
    onChange();
  }

  #refuse(reason: string): void {
    if (reason === this.#problem) return;
    this.#problem = reason;
    const { name, named } = this.#served;
    const refused = { secret: name, reason, reported: named !== undefined };
    if (this.isOver) this.#options.onOver(refused);
    else this.#options.onRefused(refused);
    this.#options.onFindings();
  }
}

/** A Host shows its certificate to clients; that of a TLSContext may be for services, too. */
function purposeOf({ named }: ServedSecret): Purpose | undefined {
  return named?.resource.startsWith('Host/') ? 'server' : undefined;
}
