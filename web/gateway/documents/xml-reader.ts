import { Parser } from 'htmlparser2';
import { XmlNamespaces } from './xml-namespaces.ts';

/** Callbacks of the XML reader. */
export interface XmlHandlers {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Maximum nesting of elements. */
const MAX_DEPTH = 1000;

/**
 * A streaming XML reader. Entities of a document type definition are never expanded, since a few lines of them can stand for gigabytes:
 * such a document is refused, as Office does.
 */
export class XmlReader {
  readonly #parser: Parser;
  #decoder: TextDecoder | undefined;
  #depth = 0;

  constructor(handlers: XmlHandlers) {
    const names = new XmlNamespaces();
    this.#parser = new Parser(
      {
        onprocessinginstruction: (_name, data) => {
          if (/^!doctype/i.test(data)) throw new Error('it has a document type definition');
        },
        onopentag: (name, attributes) => {
          if (++this.#depth > MAX_DEPTH) throw new Error('its elements are nested too deeply');
          const resolved = names.open(name, attributes);
          handlers.open?.(...resolved);
        },
        ontext: (text) => handlers.text?.(text),
        onclosetag: (name) => {
          this.#depth--;
          const resolved = names.close(name);
          handlers.close?.(resolved);
        },
      },
      { xmlMode: true, decodeEntities: true },
    );
  }

  write(bytes: Uint8Array): void {
    this.#decoder ??= new TextDecoder(detectEncoding(bytes));
    this.#parser.write(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): void {
    this.#parser.end(this.#decoder?.decode() ?? '');
  }
}

function detectEncoding([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
