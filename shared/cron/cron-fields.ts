/** A field of a schedule: all values, or listed ones in order. */
export type CronField = { all: true; step: number } | { all: false; values: readonly number[] };

/** The five fields of a schedule. Weekdays count from Sunday, 0. */
interface CronFields {
  minute: CronField;
  hour: CronField;
  day: CronField;
  month: CronField;
  weekday: CronField;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
/** Maximum number of days of each month. */
const MAX_DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** Extensions of the classic format: the last day, the nearest workday, the third Friday. They are passed through to the scheduler, which supports them. */
const EXTENDED_SYNTAX = /[LW#?+]/i;

const FIELD_RANGES = {
  minute: { least: 0, most: 59, names: [] as readonly string[] },
  hour: { least: 0, most: 23, names: [] as readonly string[] },
  day: { least: 1, most: 31, names: [] as readonly string[] },
  month: { least: 1, most: 12, names: MONTHS },
  weekday: { least: 0, most: 7, names: WEEKDAYS },
} as const;
type FieldName = keyof typeof FIELD_RANGES;
const FIELD_NAMES = ['minute', 'hour', 'day', 'month', 'weekday'] as const;

/** Error in a schedule, for callers that phrase it themselves. */
type CronFault = { kind: 'fields' } | { kind: 'never' } | { kind: 'range'; field: FieldName; text: string; least: number; most: number };

class CronError extends Error {
  readonly fault: CronFault;

  constructor(message: string, fault: CronFault) {
    super(message);
    this.fault = fault;
  }
}

/** The error in a five-field schedule; undefined if it is valid. */
export function findCronFault(text: string): CronFault | undefined {
  try {
    parseCron(text);
    return undefined;
  } catch (error) {
    if (error instanceof CronError) return error.fault;
    throw error;
  }
}

/**
 * The error in a five-field schedule, phrased to follow its name; undefined if it is valid. Checks only the syntax, without the calendar of
 * any zone.
 */
export function findCronProblem(text: string): string | undefined {
  try {
    parseCron(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The fields of a schedule; undefined if one of them has a form beyond the classic one. Throws an Error phrased to follow its name. */
export function parseCron(text: string): CronFields | undefined {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== 5) throw new CronError('must have five fields: minute, hour, day, month, weekday', { kind: 'fields' });
  const special = parts.some((part) => EXTENDED_SYNTAX.test(replaceNames(part)));
  const read = FIELD_NAMES.map((name, index) => {
    const part = parts[index] ?? '';
    return EXTENDED_SYNTAX.test(replaceNames(part)) ? undefined : parseField(name, part);
  });
  const [minute, hour, day, month, weekday] = read;
  if (special || !minute || !hour || !day || !month || !weekday) return undefined;
  if (
    !day.all &&
    isEveryValue(weekday) &&
    !getMonths(month).some((each) => day.values.some((value) => value <= (MAX_DAYS_IN_MONTH[each - 1] ?? 0)))
  )
    throw new CronError('never matches: no month in it has such a day', { kind: 'never' });
  return { minute, hour, day, month, weekday };
}

const isEveryValue = (field: CronField): boolean => field.all && field.step === 1;
const getMonths = (field: CronField): readonly number[] =>
  field.all ? MAX_DAYS_IN_MONTH.map((_, index) => index + 1).filter((month) => (month - 1) % field.step === 0) : field.values;

/** Names have letters that are marks elsewhere: `JUL`, `WED`. */
const replaceNames = (part: string): string => part.replace(/[a-z]{3}/gi, '1');

function parseField(name: FieldName, text: string): CronField {
  const { least, most, names } = FIELD_RANGES[name];
  const throwRangeError = (): never => {
    throw new CronError(`has "${text}" for the ${name}, which must be ${least} to ${most}`, {
      kind: 'range',
      field: name,
      text,
      least,
      most,
    });
  };
  const parseValue = (valueText: string): number => {
    const nameIndex = names.indexOf(valueText.toUpperCase());
    const value = nameIndex >= 0 ? nameIndex + least : /^\d{1,2}$/.test(valueText) ? Number(valueText) : throwRangeError();
    return value < least || value > most ? throwRangeError() : value;
  };
  const values = new Set<number>();
  for (const item of text.split(',')) {
    const [, range = '', by] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(item) ?? [];
    const step = by === undefined ? 1 : Number(by);
    if (range === '' || step < 1 || step > most) throwRangeError();
    if (range === '*') {
      if (text === item) return { all: true, step };
      for (let at: number = least; at <= most; at += step) values.add(at);
      continue;
    }
    const [from = '', to, ...extra] = range.split('-');
    if (extra.length > 0) throwRangeError();
    const first = parseValue(from);
    const last = to !== undefined ? parseValue(to) : by === undefined ? first : most;
    if (last < first) throwRangeError();
    for (let at = first; at <= last; at += step) values.add(at);
  }
  // Sunday is 0 and 7.
  const each = name === 'weekday' ? new Set([...values].map((value) => value % 7)) : values;
  return { all: false, values: [...each].sort((a, b) => a - b) };
}
