import { Scalar } from 'yaml';

/**
 * Text of a Go template cannot stand in a document of YAML. So a mark stands there in its place
 * until the document is written, a hole with the text in hexadecimal digits.
 */
export function hole(text: string): string {
  return `⟦${Buffer.from(text).toString('hex')}⟧`;
}

/** Returns the scalar `{{ expression }}`. */
export function expression(text: string): Scalar {
  return new Scalar(hole(`{{ ${text} }}`));
}

/** Returns the scalar that the expression is as JSON, which is YAML in one line. */
export function json(text: string): Scalar {
  return expression(`${text} | toJson`);
}

/** Puts a statement around the line of a scalar, such as `if …` or `range …`. */
export function inside(statement: string, scalar: Scalar): Scalar {
  scalar.comment = hole(statement);
  return scalar;
}

/** Puts the texts of the templates into a written document, whose own braces stay as they are. */
export function fillHoles(yaml: string): string {
  return yaml
    .replaceAll('{{', '{{ "{{" }}')
    .replace(/^( *)(.*\S) +#⟦(\w+)⟧$/gm, (_, indent, line, statement) =>
      around(textOf(statement), `${line}\n`, indent),
    )
    .replace(/⟦(\w+)⟧/g, (_, digits) => textOf(digits));
}

/** Puts a statement around whole lines. */
export function around(statement: string, lines: string, indent = ''): string {
  const end = lines.endsWith('\n') ? '' : '\n';
  return `${indent}{{- ${statement} }}\n${indent}${lines}${end}${indent}{{- end }}`;
}

function textOf(digits: string): string {
  return Buffer.from(digits, 'hex').toString();
}
