import { createUnreadableError } from '../document-reader.ts';
import type { DecodedPassageRequest, DocumentFacts, PassageContext } from './passage-context.ts';

/** A picture: the text in it, by text recognition. */
export async function readPicturePassages(
  { name, bytes, ocr: settings }: DecodedPassageRequest,
  { builder, signal, ocr }: PassageContext,
): Promise<DocumentFacts> {
  if (!ocr || !settings)
    throw createUnreadableError(name, 'is a picture. To read text in pictures, turn on text recognition and keep Perch open in a tab');
  const text = await ocr.readPicture(bytes, settings, signal);
  if (text === '') return { notes: ['No text was found in this picture'] };
  for (const paragraph of text.split('\n\n')) builder.add({ text: paragraph, place: {} });
  return { notes: ['Read from a picture by text recognition, which makes mistakes'] };
}
