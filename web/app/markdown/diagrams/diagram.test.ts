import { expect, test } from 'vitest';
import { isDiagram, getDiagramKind, describeSyntaxError } from './diagram.ts';

const PARSER_ERROR =
  "Parse error on line 4:\n...> B    B --> C    C --> (\n---------------------^\nExpecting 'AMP', 'COLON', 'PIPE', 'NODE_STRING', got 'PS'";

test('blocks of code in Mermaid are diagrams, others are not', () => {
  expect(['mermaid', 'Mermaid', 'mmd', 'mermaidjs', 'md', ''].map(isDiagram)).toEqual([true, true, true, false, false, false]);
});

test('kinds of diagrams have words, also those that nobody knows', () => {
  expect(
    ['flowchart-v2', 'sequence', 'classDiagram', 'stateDiagram', 'er', 'pie', 'constructor', 'new-kind', ''].map(getDiagramKind),
  ).toEqual([
    'Flowchart',
    'Sequence diagram',
    'Class diagram',
    'State diagram',
    'Entity relationship diagram',
    'Pie chart',
    'Diagram',
    'Diagram',
    'Diagram',
  ]);
});

test('an error is reported with its line and position, without the parser’s expectations', () => {
  expect(describeSyntaxError('flowchart LR\n A --> B\n B --> C\n C --> (', 4, PARSER_ERROR)).toEqual({
    sentence: 'This diagram has a syntax error on line 4.',
    where: 'Parse error on line 4:\n...> B    B --> C    C --> (\n---------------------^',
  });
  expect(describeSyntaxError('pie', null, 'x'.repeat(5_000)).where).toHaveLength(500);
});

test('lines are not counted where the parser counts others', () => {
  expect(describeSyntaxError('---\ntitle: A\n---\nflowchart LR\n A --> (', 2, PARSER_ERROR).sentence).toBe(
    'This diagram has a syntax error.',
  );
  expect(describeSyntaxError('graph A-->', 0, 'Lexical error on line 1.').sentence).toBe('This diagram has a syntax error.');
  expect(describeSyntaxError('flowchart LR\n %% a comment\n A --> (', 2, PARSER_ERROR).sentence).toBe('This diagram has a syntax error.');
});

test('text that is no diagram is reported as such', () => {
  expect(describeSyntaxError('hello', null, 'No diagram type detected matching given configuration for text: hello')).toEqual({
    sentence: 'Unknown diagram type.',
    where: '',
  });
});
