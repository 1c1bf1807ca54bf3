import { format, getFormatFromId, isDateFormat } from 'numfmt';
import { type XmlElement, findElement, getChildren } from './xml-tree.ts';

/** Number formats of cell styles. */
export class XlsxFormats {
  readonly #codes: (string | undefined)[];
  readonly #date1904: boolean;

  constructor(styles: XmlElement | undefined, date1904: boolean) {
    this.#date1904 = date1904;
    const own = new Map(
      getChildren(findElement(styles, 'numFmts'), 'numFmt').map(({ attributes }) => [attributes['numFmtId'], attributes['formatCode']]),
    );
    this.#codes = getChildren(findElement(styles, 'cellXfs'), 'xf').map(
      ({ attributes: { numFmtId: id = '0' } }) => own.get(id) ?? getBuiltinFormat(Number(id)),
    );
  }

  /** A number as the sheet displays it; dates year first, since other orders confuse day and month. */
  formatNumber(value: number, style: number): string {
    return formatXlsxNumber(value, this.#codes[style], this.#date1904);
  }
}

/** Formats a number; unformatted if there is no format, or it does not apply. */
export function formatXlsxNumber(value: number, code: string | undefined, date1904: boolean): string {
  if (code === undefined || /^general$/i.test(code)) return String(value);
  // Workbooks of old Macs count days from 1904.
  const serial = date1904 ? value + 1462 : value;
  try {
    // A duration is not a date.
    if (isDateFormat(code)) return /\[[hms]+\]/i.test(code) ? format(code, value, { throws: true }) : formatDate(code, serial);
    return format(code, value, { throws: true }).trim();
  } catch {
    return String(value);
  }
}

function getBuiltinFormat(id: number): string | undefined {
  const code = getFormatFromId(id);
  return typeof code === 'string' ? code : undefined;
}

function formatDate(code: string, serial: number): string {
  const days = /[yd]/i.test(code.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, ''));
  const hours = /[hs]/i.test(code.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, ''));
  const seconds = Math.round((serial % 1) * 86_400) % 60 !== 0 ? ':ss' : '';
  const time = `hh:mm${seconds}`;
  return format(days && (hours || serial % 1 !== 0) ? `yyyy-mm-dd ${time}` : days || !hours ? 'yyyy-mm-dd' : time, serial, {
    throws: true,
  });
}
