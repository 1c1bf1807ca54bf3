import { type Element, element, elements, textIn } from './xml-tree.ts';

/** LaTeX commands for accents, by the characters that Office files use for them. */
const ACCENTS: Readonly<Record<string, string>> = {
  '\u0300': 'grave',
  '\u0301': 'acute',
  '\u0302': 'hat',
  '\u0303': 'tilde',
  '\u0304': 'bar',
  '\u0305': 'overline',
  '\u0307': 'dot',
  '\u0308': 'ddot',
  '\u20d7': 'vec',
};

/**
 * An equation (`m:oMath`; ECMA-376 part 1, section 22.1) as LaTeX, without delimiters. Constructs without a LaTeX command are reduced to
 * their content.
 */
export function latexOf(of: Element): string {
  return elements(of).map(partOf).join('').trim();
}

function partOf(of: Element): string {
  const part = (name: string): string => group(element(of, name));
  const value = (properties: string, name: string, otherwise: string): string =>
    element(of, properties, name)?.attributes['m:val'] ?? otherwise;
  switch (of.name) {
    case 'm:t':
      return escaped(textIn(of));
    case 'm:f':
      return value('m:fPr', 'm:type', 'bar') === 'lin' ? `${part('m:num')}/${part('m:den')}` : `\\frac${part('m:num')}${part('m:den')}`;
    case 'm:sSup':
      return `${part('m:e')}^${part('m:sup')}`;
    case 'm:sSub':
      return `${part('m:e')}_${part('m:sub')}`;
    case 'm:sSubSup':
      return `${part('m:e')}_${part('m:sub')}^${part('m:sup')}`;
    case 'm:sPre':
      return `{}_${part('m:sub')}^${part('m:sup')}${part('m:e')}`;
    case 'm:rad': {
      const degree = inner(element(of, 'm:deg'));
      return `\\sqrt${degree === '' ? '' : `[${degree}]`}${part('m:e')}`;
    }
    case 'm:nary':
      return `${value('m:naryPr', 'm:chr', '∫')}${bound('_', element(of, 'm:sub'))}${bound('^', element(of, 'm:sup'))}${part('m:e')}`;
    case 'm:limLow':
      return `\\underset${part('m:lim')}${part('m:e')}`;
    case 'm:limUpp':
      return `\\overset${part('m:lim')}${part('m:e')}`;
    case 'm:bar':
      return `\\${value('m:barPr', 'm:pos', 'bot') === 'top' ? 'overline' : 'underline'}${part('m:e')}`;
    case 'm:acc':
      return `\\${ACCENTS[value('m:accPr', 'm:chr', '\u0302')] ?? 'hat'}${part('m:e')}`;
    case 'm:d': {
      const between = value('m:dPr', 'm:sepChr', '|');
      const [begin, end] = [value('m:dPr', 'm:begChr', '('), value('m:dPr', 'm:endChr', ')')];
      return `\\left${escaped(begin) || '.'}${elements(of, 'm:e').map(inner).join(escaped(between))}\\right${escaped(end) || '.'}`;
    }
    case 'm:m':
      return environment(
        'matrix',
        elements(of, 'm:mr').map((row) => elements(row, 'm:e').map(inner).join(' & ')),
      );
    case 'm:eqArr':
      return environment('aligned', elements(of, 'm:e').map(inner));
    default:
      return elements(of).map(partOf).join('');
  }
}

const inner = (of: Element | undefined): string => (of ? latexOf(of) : '');
const group = (of: Element | undefined): string => `{${inner(of)}}`;
const environment = (name: string, rows: readonly string[]): string => `\\begin{${name}}${rows.join(' \\\\ ')}\\end{${name}}`;

function bound(mark: string, of: Element | undefined): string {
  const text = inner(of);
  return text === '' ? '' : `${mark}{${text}}`;
}

const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\backslash ')
    .replace(/[{}$&#%_]/g, '\\$&')
    .replace(/[~^]/g, '\\$&{}');
