import { hasVisibleText, stripBidiControls, INVISIBLE_NAME_MESSAGE } from '../display-name.ts';
import { z } from './zod.ts';

/** A display name of up to `maxChars` characters in reading order. Names without visible characters are refused. */
export const createVisibleName = (maxChars: number) =>
  z.string().overwrite(stripBidiControls).trim().min(1).max(maxChars).refine(hasVisibleText, INVISIBLE_NAME_MESSAGE);
