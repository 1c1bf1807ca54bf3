/**
 * A locale's module as Paraglide writes it, with its messages in one object. With an export each, a build whose pages choose among
 * languages names every message three times.
 */
export function oneObject(module: string): string {
  const [before = '', ...pieces] = module.split(/^export const (?=\w+ = )/m);
  const messages = pieces.map((piece) => piece.replace(' = ', ': ').replace(/;\s*$/, ',\n'));
  return `${before}export default {\n${messages.join('')}};\n`;
}

/** The same for its declarations, each in one line. */
export function oneObjectTypes(declarations: string): string {
  const messages: string[] = [];
  const types = declarations.replaceAll(/^export const (\w+: .*;)\n/gm, (_line, message: string) => {
    messages.push(`  ${message}\n`);
    return '';
  });
  return `${types}\ndeclare const said: {\n${messages.join('')}};\nexport default said;\n`;
}
