import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import type { FieldDocs } from '#shared/rpc/json-type.ts';

/** An expression and the file it is in. */
interface LocatedNode {
  node: ts.Expression;
  file: ts.SourceFile;
}

interface DocMember extends LocatedNode {
  text: string | undefined;
}

type DocMembers = Map<string, DocMember>;

const NONE: DocMembers = new Map();
/** Methods of Zod whose arguments name fields without declaring them. */
const SELECTING_METHODS = new Set(['omit', 'pick', 'partial', 'required']);

const files = new Map<string, ts.SourceFile>();

function parse(path: string): ts.SourceFile {
  const file = files.get(path) ?? ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  files.set(path, file);
  return file;
}

/** The doc comments of an exported constant that is made of object literals and Zod schemas, by property name. Nothing is evaluated: what is neither has no members. */
export function readDocComments(path: string, name: string): FieldDocs {
  const found = findDeclaration(parse(path), name);
  if (!found) throw new Error(`${path} declares no ${name}`);
  return toDocs(found);
}

const toDocs = ({ text, ...located }: DocMember): FieldDocs => {
  let members: DocMembers | undefined;
  return {
    text,
    field: (name) => {
      const member = (members ??= getMembers(located)).get(name);
      return member && toDocs(member);
    },
  };
};

/** The initializer of a constant of a file, or of one that the file imports from another. */
function findDeclaration(file: ts.SourceFile, name: string): DocMember | undefined {
  for (const statement of file.statements) {
    if (ts.isVariableStatement(statement)) {
      for (const { name: declared, initializer } of statement.declarationList.declarations) {
        if (initializer && ts.isIdentifier(declared) && declared.text === name)
          return { node: initializer, file, text: getComment(statement, file) };
      }
    }
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (!bindings || !ts.isNamedImports(bindings)) continue;
    const imported = bindings.elements.find((element) => element.name.text === name);
    const path = join(dirname(file.fileName), statement.moduleSpecifier.text);
    if (imported && existsSync(path)) return findDeclaration(parse(path), (imported.propertyName ?? imported.name).text);
  }
  return undefined;
}

function getMembers({ node, file }: LocatedNode): DocMembers {
  const of = (inner: ts.Expression): DocMembers => getMembers({ node: inner, file });
  if (ts.isObjectLiteralExpression(node)) return new Map(node.properties.flatMap((property) => [...getProperty(property, file)]));
  if (ts.isIdentifier(node)) {
    const declared = findDeclaration(file, node.text);
    return declared ? getMembers(declared) : NONE;
  }
  if (ts.isCallExpression(node)) {
    const { expression: callee } = node;
    const method = ts.isPropertyAccessExpression(callee) ? callee : undefined;
    const declares = !SELECTING_METHODS.has(method?.name.text ?? '');
    return merge([...(method ? [of(method.expression)] : []), ...(declares ? node.arguments.map(of) : [])]);
  }
  if (ts.isPropertyAccessExpression(node)) {
    if (node.name.text === 'shape') return of(node.expression);
    const member = of(node.expression).get(node.name.text);
    return member ? getMembers(member) : NONE;
  }
  if (ts.isArrayLiteralExpression(node)) return merge(node.elements.map(of));
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isParenthesizedExpression(node)) return of(node.expression);
  return NONE;
}

const merge = (members: readonly DocMembers[]): DocMembers => new Map(members.flatMap((some) => [...some]));

function getProperty(property: ts.ObjectLiteralElementLike, file: ts.SourceFile): DocMembers {
  if (ts.isSpreadAssignment(property)) return getMembers({ node: property.expression, file });
  if (!ts.isPropertyAssignment(property) && !ts.isShorthandPropertyAssignment(property)) return NONE;
  const { name } = property;
  if (!ts.isIdentifier(name) && !ts.isStringLiteral(name)) return NONE;
  const node = ts.isPropertyAssignment(property) ? property.initializer : property.name;
  return new Map([[name.text, { node, file, text: getComment(property, file) ?? getSchemaComment(node, file) }]]);
}

/** The comment of the constant that a schema is made from: of `tag` for `z.array(tag).max(50)`. */
function getSchemaComment(node: ts.Expression, file: ts.SourceFile): string | undefined {
  if (ts.isIdentifier(node)) return findDeclaration(file, node.text)?.text;
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { expression: receiver, name } = node.expression;
  const [item] = node.arguments;
  const isArray = ts.isIdentifier(receiver) && receiver.text === 'z' && name.text === 'array';
  return isArray && item ? getSchemaComment(item, file) : getSchemaComment(receiver, file);
}

/** The doc comment right before a node, as one line. */
function getComment(node: ts.Node, file: ts.SourceFile): string | undefined {
  const range = ts.getLeadingCommentRanges(file.text, node.pos)?.at(-1);
  const comment = range && file.text.slice(range.pos, range.end);
  if (!comment?.startsWith('/**')) return undefined;
  return comment
    .slice(3, -2)
    .replaceAll(/\n\s*\* ?/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
