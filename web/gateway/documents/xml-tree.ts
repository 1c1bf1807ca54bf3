import type { XmlHandlers } from './xml-reader.ts';

/** An XML element with its content; names as written (`w:p`). */
export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: (XmlElement | string)[];
}

/**
 * Handlers that build a tree, and its root once it is read. `onGrow` receives the number of added nodes, and throws if there are too many.
 */
export function createTreeBuilder(onGrow: (nodes: number) => void): { handlers: XmlHandlers; root(): XmlElement | undefined } {
  const top: XmlElement = { name: '', attributes: {}, children: [] };
  const open = [top];
  return {
    handlers: {
      open(name, attributes) {
        onGrow(1 + Object.keys(attributes).length);
        const element = { name, attributes, children: [] };
        open.at(-1)?.children.push(element);
        open.push(element);
      },
      text: (text) => void open.at(-1)?.children.push(text),
      close: () => void (open.length > 1 && open.pop()),
    },
    root: () => getChildren(top)[0],
  };
}

/** Child elements, or those with a given name. */
export function getChildren(node: XmlElement | undefined, name?: string): XmlElement[] {
  const found: XmlElement[] = [];
  for (const child of node?.children ?? []) if (typeof child !== 'string' && (name === undefined || child.name === name)) found.push(child);
  return found;
}

/** The element along a path of names; undefined if there is none. */
export function findElement(node: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  let current = node;
  for (const name of path)
    current = current?.children.find((child): child is XmlElement => typeof child !== 'string' && child.name === name);
  return current;
}

/** The text directly inside an element. */
export const getText = (node: XmlElement): string => node.children.filter((child) => typeof child === 'string').join('');
