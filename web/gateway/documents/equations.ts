import { type XmlElement, findElement, getChildren, getText } from './xml-tree.ts';

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
export function toLatex(node: XmlElement): string {
  return getChildren(node).map(convertNode).join('').trim();
}

function convertNode(node: XmlElement): string {
  const convertChild = (name: string): string => wrapGroup(findElement(node, name));
  const readProperty = (properties: string, name: string, fallback: string): string =>
    findElement(node, properties, name)?.attributes['m:val'] ?? fallback;
  switch (node.name) {
    case 'm:t':
      return escapeLatex(getText(node));
    case 'm:f':
      return readProperty('m:fPr', 'm:type', 'bar') === 'lin'
        ? `${convertChild('m:num')}/${convertChild('m:den')}`
        : `\\frac${convertChild('m:num')}${convertChild('m:den')}`;
    case 'm:sSup':
      return `${convertChild('m:e')}^${convertChild('m:sup')}`;
    case 'm:sSub':
      return `${convertChild('m:e')}_${convertChild('m:sub')}`;
    case 'm:sSubSup':
      return `${convertChild('m:e')}_${convertChild('m:sub')}^${convertChild('m:sup')}`;
    case 'm:sPre':
      return `{}_${convertChild('m:sub')}^${convertChild('m:sup')}${convertChild('m:e')}`;
    case 'm:rad': {
      const degree = convertContent(findElement(node, 'm:deg'));
      return `\\sqrt${degree === '' ? '' : `[${degree}]`}${convertChild('m:e')}`;
    }
    case 'm:nary':
      return `${readProperty('m:naryPr', 'm:chr', '∫')}${formatBound('_', findElement(node, 'm:sub'))}${formatBound('^', findElement(node, 'm:sup'))}${convertChild('m:e')}`;
    case 'm:limLow':
      return `\\underset${convertChild('m:lim')}${convertChild('m:e')}`;
    case 'm:limUpp':
      return `\\overset${convertChild('m:lim')}${convertChild('m:e')}`;
    case 'm:bar':
      return `\\${readProperty('m:barPr', 'm:pos', 'bot') === 'top' ? 'overline' : 'underline'}${convertChild('m:e')}`;
    case 'm:acc':
      return `\\${ACCENTS[readProperty('m:accPr', 'm:chr', '\u0302')] ?? 'hat'}${convertChild('m:e')}`;
    case 'm:d': {
      const between = readProperty('m:dPr', 'm:sepChr', '|');
      const [begin, end] = [readProperty('m:dPr', 'm:begChr', '('), readProperty('m:dPr', 'm:endChr', ')')];
      return `\\left${escapeLatex(begin) || '.'}${getChildren(node, 'm:e').map(convertContent).join(escapeLatex(between))}\\right${escapeLatex(end) || '.'}`;
    }
    case 'm:m':
      return formatEnvironment(
        'matrix',
        getChildren(node, 'm:mr').map((row) => getChildren(row, 'm:e').map(convertContent).join(' & ')),
      );
    case 'm:eqArr':
      return formatEnvironment('aligned', getChildren(node, 'm:e').map(convertContent));
    default:
      return getChildren(node).map(convertNode).join('');
  }
}

const convertContent = (node: XmlElement | undefined): string => (node ? toLatex(node) : '');
const wrapGroup = (node: XmlElement | undefined): string => `{${convertContent(node)}}`;
const formatEnvironment = (name: string, rows: readonly string[]): string => `\\begin{${name}}${rows.join(' \\\\ ')}\\end{${name}}`;

function formatBound(mark: string, node: XmlElement | undefined): string {
  const text = convertContent(node);
  return text === '' ? '' : `${mark}{${text}}`;
}

const escapeLatex = (text: string): string =>
  text
    .replaceAll('\\', '\\backslash ')
    .replace(/[{}$&#%_]/g, '\\$&')
    .replace(/[~^]/g, '\\$&{}');
