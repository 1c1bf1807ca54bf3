/** A made-up web page that the demo's agents read. */
export const BIRD_CLUB_PAGE = {
  url: 'https://birdclub.example/counting-rules',
  title: 'Counting rules of the bird club',
  lines: [
    'Count every nest twice, on different mornings, before 9:00.',
    'Send your numbers by April 15.',
    'Bring binoculars and a second person.',
  ],
};
