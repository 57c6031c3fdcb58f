//! The notation in which every message is described once, and what is made of it.
//!
//! ```text
//! messages! {
//!     /// What the structure is for.
//!     pub struct FancyRequest<'a>: request of Fancy { // the outermost structure names its API
//!         group_id: &'a str [0..],                  // a field, its type, the versions that have it
//!         reason: Option<&'a str> [2..; ignorable] nullable [3..],
//!         partitions: Vec<FancyPartition> [0..],
//!         epoch: i32 [1..] = -1,                    // its value where a version lacks it; if not said, zero
//!         cluster_id: Option<&'a str> [4..] nullable [4..] tag 0,
//!     }
//!     pub struct FancyPartition { index: i32 [0..] } // a nested one does not
//! }
//! ```
//!
//! Fields stand in wire order; tagged ones come last, tags ascending. `nullable` goes with `Option` and names
//! the versions in which null may be written; in the others `None` is written as empty. `ignorable` marks a
//! field that a client may lose in silence when it speaks a version without it. Which versions are flexible
//! is in the table of [`ApiKey`](crate::ApiKey). Types: the integers, `bool`, `TopicId`, `ErrorCode`, `&'a
//! str`, `&'a [u8]` (also for records), other structures, `Vec` of each and `Option` of all but numbers.

use crate::api::ApiKey;
use crate::errors::{DecodeError, EncodeError};
use crate::reader::Reader;

/// A whole request or response.
pub trait Message<'a>: Sized + Default {
    /// The API it belongs to.
    const API: ApiKey;

    /// Reads the body that lies at the reader's position. The caller checks that nothing is left over.
    ///
    /// # Errors
    /// When the version is not served or the bytes are not such a body.
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError>;

    /// Appends the body. Fields that the version does not have are left out.
    ///
    /// # Errors
    /// When the version is not served, or a string or the whole is longer than the format allows; `out` may
    /// then end in half a body.
    fn encode(&self, out: &mut Vec<u8>, version: i16) -> Result<(), EncodeError>;

    /// Checks that [`Self::encode`] would leave out nothing that matters. Clients call it; a server answers
    /// with what the client's version can say.
    ///
    /// # Errors
    /// [`EncodeError::NotInVersion`] with the first field whose value the version cannot carry.
    fn check(&self, version: i16) -> Result<(), EncodeError>;
}

/// A message that clients send.
pub trait Request<'a>: Message<'a> {}

/// A message that servers send.
pub trait Response<'a>: Message<'a> {}

macro_rules! messages {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident $(<$life:lifetime>)? $(: $direction:ident of $api:ident)? { $($fields:tt)* }
    )+) => {$(
        structure! { [$($life)?] $(#[$meta])* $name { $($fields)* } }
        message! { [$($direction $api)?] $name [$($life)?] }
    )+};
}

macro_rules! structure {
    ([] $($rest:tt)*) => { structure! { ['wire] [] $($rest)* } };
    ([$life:lifetime] $(#[$meta:meta])* $name:ident $($rest:tt)*) => {
        structure! { [$life] [<$life>] $(#[$meta])* $name $($rest)* }
    };
    ([$life:lifetime] [$($generics:tt)*] $(#[$meta:meta])* $name:ident {$(
        $(#[$field_meta:meta])*
        $field:ident: $type:ty [$versions:expr $(; $flag:ident)?]
            $(nullable [$nullable:expr])? $(tag $tag:literal)? $(= $default:expr)?
    ),* $(,)?}) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name $($generics)* {
            $(
                $(#[$field_meta])*
                #[allow(missing_docs)] // A field means what the protocol says; words stand where there is more.
                pub $field: $type,
            )*
        }

        impl $($generics)* Default for $name $($generics)* {
            fn default() -> Self {
                Self { $($field: default_of!($type $(, $default)?),)* }
            }
        }

        impl<$life> $crate::field::Field<$life> for $name $($generics)* {
            fn min_len(shape: $crate::field::Shape) -> usize {
                let mut len = usize::from(shape.flexible);
                $(
                    if tag_of!($($tag)?).is_none() && ($versions).contains(&shape.version) {
                        let shape = shape.field(contains!(shape.version $(, $nullable)?));
                        len += <$type as $crate::field::Field<$life>>::min_len(shape);
                    }
                )*
                len
            }

            fn read(
                reader: &mut $crate::reader::Reader<$life>,
                shape: $crate::field::Shape,
            ) -> Result<Self, $crate::errors::DecodeError> {
                let mut value = Self::default();
                $(
                    if tag_of!($($tag)?).is_none() && ($versions).contains(&shape.version) {
                        let shape = shape.field(contains!(shape.version $(, $nullable)?));
                        value.$field = $crate::field::Field::read(reader, shape)?;
                    }
                )*
                if shape.flexible {
                    reader.tagged_fields(|_tag, _reader| {
                        $(
                            if tag_of!($($tag)?) == Some(_tag) && ($versions).contains(&shape.version) {
                                let shape = shape.field(contains!(shape.version $(, $nullable)?));
                                value.$field = $crate::field::Field::read(_reader, shape)?;
                                return Ok(true);
                            }
                        )*
                        Ok(false)
                    })?;
                }
                Ok(value)
            }

            fn write(
                &self,
                out: &mut Vec<u8>,
                shape: $crate::field::Shape,
            ) -> Result<(), $crate::errors::EncodeError> {
                $(
                    if tag_of!($($tag)?).is_none() && ($versions).contains(&shape.version) {
                        let shape = shape.field(contains!(shape.version $(, $nullable)?));
                        $crate::field::Field::write(&self.$field, out, shape)?;
                    }
                )*
                if shape.flexible {
                    #[allow(unused_mut)] // A structure without tagged fields.
                    let mut tagged = $crate::field::TaggedFields::default();
                    $(
                        if let Some(tag) = tag_of!($($tag)?)
                            && ($versions).contains(&shape.version)
                            && self.$field != default_of!($type $(, $default)?)
                        {
                            let shape = shape.field(contains!(shape.version $(, $nullable)?));
                            tagged.add(tag, &self.$field, shape)?;
                        }
                    )*
                    tagged.write(out);
                }
                Ok(())
            }

            fn lost_field(
                &self,
                _name: &'static str,
                shape: $crate::field::Shape,
            ) -> Option<&'static str> {
                $(
                    let name = stringify!($field);
                    if ($versions).contains(&shape.version) {
                        let shape = shape.field(contains!(shape.version $(, $nullable)?));
                        let lost = $crate::field::Field::lost_field(&self.$field, name, shape);
                        if lost.is_some() {
                            return lost;
                        }
                    } else if !is_ignorable!($($flag)?) && self.$field != default_of!($type $(, $default)?) {
                        return Some(name);
                    }
                )*
                None
            }

            #[cfg(test)]
            fn arbitrary(random: &mut $crate::testing::Random, shape: $crate::field::Shape) -> Self {
                let mut value = Self::default();
                $(
                    if ($versions).contains(&shape.version)
                        && (tag_of!($($tag)?).is_none() || random.below(2) == 1)
                    {
                        let shape = shape.field(contains!(shape.version $(, $nullable)?));
                        value.$field = $crate::field::Field::arbitrary(random, shape);
                    }
                )*
                value
            }

            #[cfg(test)]
            fn sketch(&self) -> $crate::testing::Sketch {
                $crate::testing::Sketch::Structure(vec![
                    $((stringify!($field).to_owned(), $crate::field::Field::sketch(&self.$field)),)*
                ])
            }
        }

        impl<$life> $crate::field::Nullable<$life> for $name $($generics)* {
            fn read_nullable(
                reader: &mut $crate::reader::Reader<$life>,
                shape: $crate::field::Shape,
            ) -> Result<Option<Self>, $crate::errors::DecodeError> {
                $crate::field::read_presence(reader)?
                    .then(|| $crate::field::Field::read(reader, shape.field(false)))
                    .transpose()
            }

            fn write_null(out: &mut Vec<u8>, _shape: $crate::field::Shape) {
                $crate::field::write_presence(out, false);
            }

            fn write_present(
                &self,
                out: &mut Vec<u8>,
                shape: $crate::field::Shape,
            ) -> Result<(), $crate::errors::EncodeError> {
                $crate::field::write_presence(out, true);
                $crate::field::Field::write(self, out, shape.field(false))
            }

            fn write_empty(
                out: &mut Vec<u8>,
                shape: $crate::field::Shape,
            ) -> Result<(), $crate::errors::EncodeError> {
                $crate::field::Field::write(&Self::default(), out, shape.field(false))
            }

            fn min_len_nullable(_shape: $crate::field::Shape) -> usize {
                1
            }
        }
    };
}

macro_rules! message {
    ([] $($nested:tt)*) => {};
    ([$direction:ident $api:ident] $name:ident []) => {
        message! { @impl $direction $api ['wire] [$name] }
    };
    ([$direction:ident $api:ident] $name:ident [$life:lifetime]) => {
        message! { @impl $direction $api [$life] [$name<$life>] }
    };
    (@impl $direction:ident $api:ident [$life:lifetime] [$name:ty]) => {
        impl<$life> $crate::schema::Message<$life> for $name {
            const API: $crate::api::ApiKey = $crate::api::ApiKey::$api;

            fn decode(
                reader: &mut $crate::reader::Reader<$life>,
                version: i16,
            ) -> Result<Self, $crate::errors::DecodeError> {
                if !Self::API.serves(version) {
                    return Err($crate::errors::DecodeError::UnsupportedVersion);
                }
                $crate::field::Field::read(reader, $crate::field::Shape::of(Self::API, version))
            }

            fn encode(&self, out: &mut Vec<u8>, version: i16) -> Result<(), $crate::errors::EncodeError> {
                if !Self::API.serves(version) {
                    return Err($crate::errors::EncodeError::UnsupportedVersion);
                }
                $crate::field::Field::write(self, out, $crate::field::Shape::of(Self::API, version))
            }

            fn check(&self, version: i16) -> Result<(), $crate::errors::EncodeError> {
                let shape = $crate::field::Shape::of(Self::API, version);
                match $crate::field::Field::lost_field(self, "message", shape) {
                    Some(field) => Err($crate::errors::EncodeError::NotInVersion(field)),
                    None => Ok(()),
                }
            }
        }

        message! { @marker $direction [$life] [$name] }
    };
    (@marker request [$life:lifetime] [$name:ty]) => {
        impl<$life> $crate::schema::Request<$life> for $name {}
    };
    (@marker response [$life:lifetime] [$name:ty]) => {
        impl<$life> $crate::schema::Response<$life> for $name {}
    };
}

macro_rules! default_of {
    ($type:ty) => {
        <$type as Default>::default()
    };
    ($type:ty, $default:expr) => {
        std::convert::identity::<$type>($default)
    };
}

macro_rules! tag_of {
    () => {
        None::<u32>
    };
    ($tag:literal) => {
        Some::<u32>($tag)
    };
}

macro_rules! contains {
    ($version:expr) => {
        false
    };
    ($version:expr, $versions:expr) => {
        ($versions).contains(&$version)
    };
}

macro_rules! is_ignorable {
    () => {
        false
    };
    (ignorable) => {
        true
    };
}
