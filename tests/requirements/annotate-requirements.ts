import { chosenSection } from './requirement.ts';

/** The Annotate page. */
export const annotate = [
  chosenSection('issue "Canvases and icons", parts 3 to 6; ux.md, "Canvas"', {
    'annotate/kept': 'What is drawn is kept as it is drawn, and two pages on one drawing see each other’s strokes.',
    'annotate/sources':
      'A drawing begins with an empty sheet, a file, a drop, what was pasted, the camera or the screen; pictures are turned right and made smaller where they are too large, with a note, and what is none is told by its name.',
    'annotate/bridge':
      'Pictures of the bridge’s desktop and of the browser that agents drive open on the canvas; what cannot be taken is said.',
    'annotate/export': 'PNG, JPEG and SVG have the redactions burned in; JSON, which has not, says so before, and is opened again.',
    'annotate/to-chat':
      'A picture goes to the draft of a chat as one card with a way back, survives a reload, and is sent with its notes as text; a picture of a chat opens on the canvas.',
    'annotate/arrange':
      'What is selected, or the sheet, is aligned, spaced, turned, flipped, moved in the pile, doubled and taken away also by buttons.',
    'annotate/layers':
      'Layers are ordered, hidden and locked in the panel; what is hidden or locked is not chosen, and what is hidden not exported.',
    'annotate/style': 'Colour and opacity of several that are selected change as one step.',
    'annotate/menu': 'A right click, or the menu key, opens what can be done there.',
    'annotate/tabs': 'What is copied in one tab is pasted in another, and a stroke is seen elsewhere while it is drawn.',
    'annotate/offline':
      'Without a connection one draws on, which is said; what was drawn survives a reload and is sent once the gateway is back, also where the drawing is not looked at any more.',
    'annotate/share': 'A picture goes to the device’s share sheet with its notes, where there is one; what goes wrong is said.',
    'annotate/damaged':
      'Files that are not what they are called, are cut off, empty or too new are told by name and reason, and nothing is made of them.',
    'annotate/many': 'A list of a thousand drawings is made as it is scrolled, and searched by title.',
    'annotate/tools':
      'The toolbar shows the last used tool of each group and opens the others by mouse, finger and keys; what is drawn at a small zoom looks as it does at full size.',
    'annotate/notes': 'Placing or pressing a marker opens its note beside it, where keys never become shortcuts.',
    'annotate/excalidraw':
      'Excalidraw files are opened, added to a drawing and exported; what has no counterpart is counted, and damaged files change nothing.',
    'annotate/library':
      'Shapes are saved in a library of the vault by name, inserted by click and drag, deleted with a way back, and exchanged as Excalidraw libraries.',
    'annotate/accessible': 'The page works by keys, with names and contrast, from 320 px up, light and dark.',
  }),
];
