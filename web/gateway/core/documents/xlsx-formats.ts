import { format, getFormatFromId, isDateFormat } from 'numfmt';
import { type Element, element, elements } from './xml-tree.ts';

/** How the cells of each style show their numbers. */
export class XlsxFormats {
  readonly #codes: (string | undefined)[];
  readonly #date1904: boolean;

  constructor(styles: Element | undefined, date1904: boolean) {
    this.#date1904 = date1904;
    const own = new Map(
      elements(element(styles, 'numFmts'), 'numFmt').map(({ attributes }) => [attributes['numFmtId'], attributes['formatCode']]),
    );
    this.#codes = elements(element(styles, 'cellXfs'), 'xf').map(
      ({ attributes: { numFmtId: id = '0' } }) => own.get(id) ?? usual(Number(id)),
    );
  }

  /** A number as the sheet shows it; dates year first, for others do not tell day from month. */
  shown(value: number, style: number): string {
    return shownNumber(value, this.#codes[style], this.#date1904);
  }
}

/** A number by its format; as it is without one, or where it does not fit. */
export function shownNumber(value: number, code: string | undefined, date1904: boolean): string {
  if (code === undefined || /^general$/i.test(code)) return String(value);
  // Days are counted from 1904 in books of old Macs.
  const serial = date1904 ? value + 1462 : value;
  try {
    // A span of hours is no time of day, and counts from no date.
    if (isDateFormat(code)) return /\[[hms]+\]/i.test(code) ? format(code, value, { throws: true }) : dated(code, serial);
    return format(code, value, { throws: true }).trim();
  } catch {
    return String(value);
  }
}

function usual(id: number): string | undefined {
  const code = getFormatFromId(id);
  return typeof code === 'string' ? code : undefined;
}

function dated(code: string, serial: number): string {
  const days = /[yd]/i.test(code.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, ''));
  const hours = /[hs]/i.test(code.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, ''));
  const seconds = Math.round((serial % 1) * 86_400) % 60 !== 0 ? ':ss' : '';
  const time = `hh:mm${seconds}`;
  return format(days && (hours || serial % 1 !== 0) ? `yyyy-mm-dd ${time}` : days || !hours ? 'yyyy-mm-dd' : time, serial, {
    throws: true,
  });
}
