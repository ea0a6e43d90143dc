import type { AnyNode, List, Pipe } from './nodes.ts';
import { quote } from './quote.ts';

/** Returns a node as Go's messages spell it. */
export function nodeText(node: AnyNode): string {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'action':
      return `{{${pipeText(node.pipe)}}}`;
    case 'if':
    case 'with':
    case 'range': {
      const otherwise = node.elseList === undefined ? '' : `{{else}}${listText(node.elseList)}`;
      return `{{${node.kind} ${pipeText(node.pipe)}}}${listText(node.list)}${otherwise}{{end}}`;
    }
    case 'template':
      return `{{template ${quote(node.name)}${node.pipe === undefined ? '' : ` ${pipeText(node.pipe)}`}}}`;
    case 'break':
    case 'continue':
      return `{{${node.kind}}}`;
    case 'pipe':
      return pipeText(node);
    case 'command':
      return node.args.map(innerText).join(' ');
    case 'variable':
      return node.names.join('.');
    case 'field':
      return node.names.map(name => `.${name}`).join('');
    case 'chain':
      return [innerText(node.node), ...node.names].join('.');
    case 'identifier':
      return node.name;
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'number':
      return node.text;
    case 'string':
      return node.quoted;
  }
}

/** Returns a node inside another, where a pipeline has its parentheses. */
function innerText(node: AnyNode): string {
  return node.kind === 'pipe' ? `(${pipeText(node)})` : nodeText(node);
}

function pipeText(pipe: Pipe): string {
  const declared = pipe.declared.map(nodeText).join(', ');
  const start = declared === '' ? '' : `${declared} ${pipe.isAssign ? '=' : ':='} `;
  return start + pipe.commands.map(nodeText).join(' | ');
}

function listText(list: List): string {
  return list.nodes.map(nodeText).join('');
}
