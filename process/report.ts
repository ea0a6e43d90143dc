import { decodeAny } from '#protos/decode.ts';
import { type Any, encodeAny } from '#protos/encode.ts';
import { REPORT } from '#protos/type-url.ts';
import { type OrderOutcome, outcomeField } from './order-outcomes.ts';

/**
 * What a service finds wrong with a resource that it was sent and has accepted:
 * `gateway.config.v1.Finding`.
 */
export type ReportedFinding = {
  /**
   * The resource's id, such as `Filter/default/login`. With INSTANCES_OF before it, a name that
   * proxies ask the discovery service for. With INSTANCES_FILE before it, the path of a file that
   * it reads.
   */
  readonly resource: string;
  /** The path of the field to look at. Empty when there is none. */
  readonly field: string;
  readonly severity: 'error' | 'warning';
  /** Without secrets. It is the same while nothing changes, because whatever is new is logged. */
  readonly message: string;
  /** Whether the resource does not work at all meanwhile. */
  readonly outOfService: boolean;
};

/** No kind has these names. */
export const INSTANCES_OF = 'instances/';
export const INSTANCES_FILE = 'instances-file/';

/** Further findings are left out. */
const MOST_FINDINGS = 200;
/** In UTF-16 units. A whole report is less than xds accepts of one. */
const LONGEST = { resource: 400, field: 200, message: 1_000 };

/**
 * Encodes findings, and what became of orders, as a report that is cut to what may be sent.
 * @returns undefined when there are none
 */
export function encodeReport(
  findings: readonly ReportedFinding[],
  outcomes: readonly OrderOutcome[] = [],
): Any | undefined {
  if (findings.length + outcomes.length === 0) return undefined;
  const told = findings.slice(0, MOST_FINDINGS).map(toJson);
  return encodeAny({ '@type': REPORT, findings: told, ...outcomeField(outcomes) });
}

function toJson({ resource, field, severity, message, outOfService }: ReportedFinding) {
  return {
    resource: cut(resource, LONGEST.resource),
    field: cut(field, LONGEST.field),
    severity: severity === 'error' ? 'ERROR' : 'WARNING',
    message: cut(message, LONGEST.message),
    out_of_service: outOfService,
  };
}

function cut(text: string, longest: number): string {
  return (text.length <= longest ? text : `${text.slice(0, longest - 1)}…`).toWellFormed();
}

/** Decodes the findings of a report. An `error` says why it is not a report. */
export function decodeReport(report: Any): readonly ReportedFinding[] | { readonly error: string } {
  if (report.type_url !== REPORT) return { error: 'the report is not a Report message' };
  const decoded = tryDecode(report);
  if (decoded === undefined) return { error: 'the Report cannot be decoded' };
  const { findings = [] } = decoded;
  if (findings.length > MOST_FINDINGS) return { error: `more than ${MOST_FINDINGS} findings` };
  const read = findings.map(fromJson);
  return read.some(isTooLong) ? { error: 'a finding has a text that is too long' } : read;
}

type Json = {
  readonly findings?: readonly {
    readonly resource?: string;
    readonly field?: string;
    readonly severity?: unknown;
    readonly message?: string;
    readonly out_of_service?: boolean;
  }[];
};

function tryDecode(report: Any): Json | undefined {
  try {
    return decodeAny(report) as Json;
  } catch {
    return undefined;
  }
}

/** A severity that is unknown here is an error. */
function fromJson({
  resource = '',
  field = '',
  severity,
  message = '',
  out_of_service: outOfService = false,
}: NonNullable<Json['findings']>[number]): ReportedFinding {
  return {
    resource,
    field,
    severity: severity === 'WARNING' ? 'warning' : 'error',
    message,
    outOfService,
  };
}

function isTooLong({ resource, field, message }: ReportedFinding): boolean {
  return (
    resource.length > LONGEST.resource ||
    field.length > LONGEST.field ||
    message.length > LONGEST.message
  );
}
