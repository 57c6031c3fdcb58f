//! Frames: the headers around a request or a response, and whole frames in one call.

use crate::api::{ApiKey, RequestBody};
use crate::errors::{DecodeError, EncodeError, RequestError};
use crate::field::{Field, Shape};
use crate::reader::Reader;
use crate::schema::{Message, Request, Response};

/// Header of a request, version 1 or 2. The frame's length before it is the transport's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHeader<'a> {
    /// The API asked for.
    pub api_key: ApiKey,
    /// The version of the request, and of the response to it.
    pub api_version: i16,
    /// What the response repeats.
    pub correlation_id: i32,
    /// The name that the client gives itself; Kafka treats null as empty.
    pub client_id: Option<&'a str>,
}

/// The client id has the length of old strings in header version 2 too.
const CLIENT_ID: Shape = Shape { version: 0, flexible: false, nullable: true };

/// Reads the header of a request and leaves the reader at the body, whatever its version.
///
/// # Errors
/// When the API is unknown or the header is malformed.
pub fn decode_header<'a>(reader: &mut Reader<'a>) -> Result<RequestHeader<'a>, RequestError<'a>> {
    let key = reader.i16()?;
    let api_key = ApiKey::from_code(key).ok_or(RequestError::UnknownApi(key))?;
    let api_version = reader.i16()?;
    let correlation_id = reader.i32()?;
    let client_id = Field::read(reader, CLIENT_ID)?;
    if api_key.request_header_version(api_version) >= 2 {
        reader.tagged_fields(|_, _| Ok(false))?;
    }
    Ok(RequestHeader { api_key, api_version, correlation_id, client_id })
}

/// Reads a whole request: `frame` is what follows the four bytes of the frame's size.
///
/// Bytes after the last field are ignored, as Kafka ignores them. There are clients that need it: librdkafka 2.15.1
/// leaves three zero bytes behind a Metadata request of version 9 and later for all topics.
///
/// # Errors
/// [`RequestError::UnsupportedVersion`] carries the header, since ApiVersions has an answer to that; the
/// others are malformed or name no API that is served.
pub fn decode_request(frame: &[u8]) -> Result<(RequestHeader<'_>, RequestBody<'_>), RequestError<'_>> {
    let mut reader = Reader::new(frame);
    let header = decode_header(&mut reader)?;
    if !header.api_key.serves(header.api_version) {
        return Err(RequestError::UnsupportedVersion(header));
    }
    let body = RequestBody::decode(header.api_key, &mut reader, header.api_version)?;
    Ok((header, body))
}

/// Appends a whole response frame to `out`: size, header, body.
///
/// # Errors
/// As [`Message::encode`]; `out` is then as it was before.
pub fn encode_response<'a>(
    out: &mut Vec<u8>,
    response: &impl Response<'a>,
    version: i16,
    correlation_id: i32,
) -> Result<(), EncodeError> {
    encode_frame(out, response, version, |out, api| {
        out.extend_from_slice(&correlation_id.to_be_bytes());
        if api.response_header_version(version) >= 1 {
            out.push(0);
        }
        Ok(())
    })
}

/// Appends a whole request frame to `out`: size, header, body.
///
/// # Errors
/// As [`Message::check`] and [`Message::encode`]; `out` is then as it was before.
pub fn encode_request<'a>(
    out: &mut Vec<u8>,
    request: &impl Request<'a>,
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
) -> Result<(), EncodeError> {
    request.check(version)?;
    encode_frame(out, request, version, |out, api| {
        out.extend_from_slice(&api.code().to_be_bytes());
        out.extend_from_slice(&version.to_be_bytes());
        out.extend_from_slice(&correlation_id.to_be_bytes());
        client_id.write(out, CLIENT_ID)?;
        if api.request_header_version(version) >= 2 {
            out.push(0);
        }
        Ok(())
    })
}

/// Reads a whole response to a request of the given version: `frame` is what follows the four bytes of the
/// frame's size. Gives the correlation id and the response.
///
/// # Errors
/// When the version is not served or the bytes are not such a response.
pub fn decode_response<'a, R: Response<'a>>(frame: &'a [u8], version: i16) -> Result<(i32, R), DecodeError> {
    let mut reader = Reader::new(frame);
    let correlation_id = reader.i32()?;
    if R::API.response_header_version(version) >= 1 {
        reader.tagged_fields(|_, _| Ok(false))?;
    }
    let response = R::decode(&mut reader, version)?;
    reader.finish()?;
    Ok((correlation_id, response))
}

fn encode_frame<'a, M: Message<'a>>(
    out: &mut Vec<u8>,
    message: &M,
    version: i16,
    header: impl FnOnce(&mut Vec<u8>, ApiKey) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let body = out.len();
    let written = header(out, M::API).and_then(|()| message.encode(out, version)).and_then(|()| {
        let size = i32::try_from(out.len() - body).map_err(|_| EncodeError::TooLarge)?;
        out[start..body].copy_from_slice(&size.to_be_bytes());
        Ok(())
    });
    if written.is_err() {
        out.truncate(start);
    }
    written
}
