import type { XmlHandlers } from './xml-reader.ts';

/** An XML element with its content; names as written (`w:p`). */
export interface Element {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: (Element | string)[];
}

/**
 * Handlers that build a tree, and its root once it is read. `grown` receives the number of added nodes, and throws if there are too many.
 */
export function elementsIn(grown: (nodes: number) => void): { handlers: XmlHandlers; root(): Element | undefined } {
  const top: Element = { name: '', attributes: {}, children: [] };
  const open = [top];
  return {
    handlers: {
      open(name, attributes) {
        grown(1 + Object.keys(attributes).length);
        const element = { name, attributes, children: [] };
        open.at(-1)?.children.push(element);
        open.push(element);
      },
      text: (text) => void open.at(-1)?.children.push(text),
      close: () => void (open.length > 1 && open.pop()),
    },
    root: () => elements(top)[0],
  };
}

/** Child elements, or those with a given name. */
export function elements(of: Element | undefined, name?: string): Element[] {
  const found: Element[] = [];
  for (const child of of?.children ?? []) if (typeof child !== 'string' && (name === undefined || child.name === name)) found.push(child);
  return found;
}

/** The element along a path of names; undefined if there is none. */
export function element(of: Element | undefined, ...path: string[]): Element | undefined {
  let at = of;
  for (const name of path) at = at?.children.find((child): child is Element => typeof child !== 'string' && child.name === name);
  return at;
}

/** The text directly inside an element. */
export const textIn = (of: Element): string => of.children.filter((child) => typeof child === 'string').join('');
