import { basename, dirname } from 'node:path';
import ts from 'typescript';

/** An exported name of a module. */
interface ExportedName {
  file: string;
  /** From 1. */
  line: number;
  name: string;
  kind: 'type' | 'value';
}

/** Exported declarations of a module, without re-exports. */
export function parseExports(file: string, source: string): ExportedName[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  return tree.statements.flatMap((statement): ExportedName[] => {
    if (!ts.canHaveModifiers(statement) || !ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    const add = (name: ts.Node, kind: ExportedName['kind']): ExportedName => ({
      ...{ file, kind, name: name.getText(tree) },
      line: tree.getLineAndCharacterOfPosition(name.getStart(tree)).line + 1,
    });
    if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => add(name, 'value'));
    if (ts.isFunctionDeclaration(statement) && statement.name) return [add(statement.name, 'value')];
    const isType = ts.isClassDeclaration(statement) || ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    return isType && statement.name ? [add(statement.name, 'type')] : [];
  });
}

/** Names such as `statusOf`, in the place of a verb and a noun. */
export const isPossessive = ({ name, kind }: ExportedName): boolean => kind === 'value' && /^[a-z][A-Za-z]*Of$/.test(name);

const IRREGULAR =
  'Asked Begun Bound Brought Built Chosen Come Done Drawn Found Given Gone Heard Held Kept Known Laid Left Lent Let Made Met Paid Put Read Said Seen Sent Set Shown Sought Spent Stood Taken Thought Told Typed Wanted Won Written';
const PARTICIPLES = new Set(IRREGULAR.split(' '));

/** Types named by a participle alone, such as `Told` or `Wanted`. */
export const isParticiple = ({ name, kind }: ExportedName): boolean =>
  kind === 'type' && (PARTICIPLES.has(name) || /^[A-Z][a-z]{2,}ed$/.test(name));

/** Standard files of a feature, and files that a tool expects under this name. */
const STANDARD = /^(?:\+\w+|index|types|messages|fixture|vite\.config|Page)\.|\.d\.ts$|\.json$/;
const MAX_FOLDERS = 3;

/** File names used in more folders than three, with their folders. */
export function findCommonFileNames(files: readonly string[]): [name: string, folders: string[]][] {
  const folders = new Map<string, string[]>();
  for (const file of files) {
    const name = basename(file);
    if (!STANDARD.test(name)) folders.set(name, [...(folders.get(name) ?? []), dirname(file)]);
  }
  return [...folders].filter(([, used]) => used.length > MAX_FOLDERS);
}
